#!/usr/bin/env bash
# Discs deposited under gravity: packing fraction with friction; coordination number without, reported at two stiffnesses. Measured between 5 and 20 d above the floor.
# Usage: discs_packing.sh BUILD
. "$(dirname "$0")/discs.sh"

# deposit NAME MU KN: 1000 discs rain into a box that repeats after 40 d and settle.
deposit() {
    {
        printf '%s' "$types"
        cat <<END
contact: {default: {kn: $3, restitution: 0.5, mu: $2}}
periodic: {x: [0, 0.8]}
boundaries: [{name: floor, plane: {point: [0, 0], normal: [0, 1]}}]
fill: [{type: disc, count: 1000, region: [0, 0, 0.8, 3]}]
phases: [{name: settle, until: rest, timeout: 8}, {name: calm, time: 0.5}]
maps: $maps
output: {every: 0.5, contacts: true}
END
    } >"$1.yaml"
    "$bin/simulate" "$1.yaml" -o "$1.h5" --threads 1 --quiet >/dev/null
}

train
deposit rub 0.5 1.0e6 &
deposit soft 0 1.0e6 &
deposit stiff 0 4.0e6 &
wait
region="--region 0,0.1,0.8,0.4"
# Above jamming the number of contacts grows with the root of the overlap (O'Hern et al., Phys. Rev. E 68, 2003). Reported, not required: the 4.0 .. 4.1 of
# nearly rigid discs need overlaps of less than 5e-4 d at rest.
for run in soft stiff; do
    echo "without friction, $run: packing fraction $(value $run.h5 packing_fraction $region), coordination $(value $run.h5 coordination_rigid $region --rattler-contacts 3), mean overlap $(value $run.h5 penetration_mean) m, kinetic energy $(value $run.h5 kinetic_per_mgr) m g R"
done
row "discs deposited with mu 0.5: packing fraction" 0.815 "$(value rub.h5 packing_fraction $region)" 0.015
finish
