#!/bin/bash
# The page of simview in headless Chromium: loads, plays to the end, scrubs, zooms, pans, colours; its poses are those of the
# run; the time to draw 11,000 grains is printed. $1: folder of the commands; $2: folder of the project; $3: chromium.
source=$(cd "$2" && pwd)
chromium=$3
. "$(dirname "$0")/common.sh"

# Under chromium's virtual time frames of animation come when they like: here they come every 16 ms of it.
echo '<script>window.requestAnimationFrame = call => setTimeout(() => call(performance.now()), 16);</script>' >frames.js
# What a person would do, with a line of result a check.
cat >person.js <<'END'
<script>
(async () => {
  const p = window.player, $ = id => document.getElementById(id), lines = [];
  const say = (name, good, value) => lines.push((good ? 'good ' : 'BAD ') + name + ' ' + value);
  const frame = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const ink = () => {
    p.draw();
    const c = $('canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
    let count = 0, sum = 0;
    for (let i = 0; i < d.length; i += 4) if (d[i] + d[i + 1] + d[i + 2] < 765) count++, sum = (sum * 31 + d[i] + 7 * d[i + 1] + 13 * d[i + 2]) % 1000000007;
    return [count, sum];
  };
  window.addEventListener('error', e => say('script', false, e.message));
  try {
    const last = p.data.frames.length - 1;
    await frame();
    say('loads', document.documentElement.dataset.frame === '0' && ink()[0] > 1000, ink()[0]);
    const first = ink()[1];
    $('scrub').value = last, $('scrub').dispatchEvent(new Event('input'));
    await frame();
    say('scrubs', p.index === last && document.documentElement.dataset.frame === String(last) && ink()[1] !== first, p.index);
    document.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft', bubbles: true}));
    window.dispatchEvent(new KeyboardEvent('keydown', {key: 'Home'}));
    await frame();
    say('keys', p.index === 0, p.index);
    $('rate').value = '1';
    $('play').click();
    const playing = p.playing;
    let seen = new Set();
    for (let k = 0; k < 2000 && p.playing; k++) { await frame(); seen.add(p.index); }
    say('plays', playing && !p.playing && p.index === last && seen.size > 3, [...seen].join());
    const r = $('canvas').getBoundingClientRect(), scale = p.view.scale, px = .25 * r.width, py = .6 * r.height;
    const world = () => [p.view.x + (px - $('canvas').width / 2) / p.view.scale, p.view.y - (py - $('canvas').height / 2) / p.view.scale];
    const before = world();
    $('canvas').dispatchEvent(new WheelEvent('wheel', {deltaY: -500, clientX: r.left + px, clientY: r.top + py, cancelable: true}));
    const after = world();
    say('zooms', p.view.scale > 1.5 * scale && Math.hypot(after[0] - before[0], after[1] - before[1]) < 1 / scale, p.view.scale / scale);
    const x = p.view.x;
    $('canvas').onpointermove({buttons: 1, movementX: 50, movementY: 0});
    say('pans', Math.abs((x - p.view.x) * p.view.scale - 50) < 1e-6, (x - p.view.x) * p.view.scale);
    $('fit').click();
    await frame();
    say('fits', Math.abs(p.view.scale / scale - 1) < 1e-9, p.view.scale / scale);
    const sums = [];
    for (const o of $('colour').options) { $('colour').value = o.value, $('colour').dispatchEvent(new Event('change')); await frame(); sums.push(ink()[1]); }
    say('colours', new Set(sums).size === sums.length, [...$('colour').options].map(o => o.value).join());
    // Small grains from masks look as their paths do: mean difference of the pixels that either has drawn on.
    const picture = small => { p.small = small, p.draw(); return $('canvas').getContext('2d').getImageData(0, 0, $('canvas').width, $('canvas').height).data; };
    p.setColour('shape'), p.seek(0);
    await frame();
    const masks = picture(7), filled = picture(0);
    let apart = 0, drawn = 0, other = 0;
    for (let i = 0; i < masks.length; i++) if (i % 4 < 3 && masks[i] + filled[i] < 510) drawn++, apart += Math.abs(masks[i] - filled[i]), other += masks[i] !== filled[i];
    say('masks', apart < 12 * drawn && (other > 0) === (p.data.types[0].radius * p.view.scale < 7), (apart / drawn).toFixed(2) + ' of 255');
    for (let i = 0; i < Math.min(p.data.species.length, 12); i++) lines.push('pose ' + i + ' ' + (p.pose(last, i) || []).join(' '));
  } catch (e) {
    say('script', false, e.stack);
  }
  const e = document.createElement('pre');
  e.id = 'lines', e.textContent = lines.join('\n');
  document.body.append(e);
})();
</script>
END
# visit PAGE BUDGET_MS: what the person saw.
visit() {
    cat frames.js "$1" person.js >visited.html
    timeout 280 "$chromium" --headless --no-sandbox --disable-gpu --window-size=1000,800 --user-data-dir="$work/profile" \
        --virtual-time-budget="$2" --dump-dom "file://$work/visited.html" 2>chromium.log >dom.html
    sed -n '/<pre id="lines">/,/<\/pre>/p' dom.html | sed 's/<pre id="lines">//; s/<\/pre>.*//' >lines.txt
    grep -v '^pose' lines.txt
    [ "$(grep -c '^good' lines.txt)" = 9 ] || fail "$1: expected 9 good lines: $(tail -n 3 chromium.log)"
    grep '^BAD' lines.txt && fail "$1"
}

"$bin/simulate" "$source/data/scenes/drum.yaml" --set output.contacts=true -o drum.h5 --quiet || exit 1
"$bin/simview" drum.h5 -o drum.html --quiet || fail "page"
visit drum.html 60000
grep -q '^good colours shape,speed,rotation,force' lines.txt || fail "colours of a run with contact rows"
# The poses of the last frame, within half a step of the quantisation: the drum is .12 m wide.
"$bin/simstat" drum.h5 --poses poses.csv --quiet >/dev/null || fail "simstat"
grep '^pose' lines.txt | awk '
    NR == FNR { if (FNR > 1) { split($0, f, ","); x[f[1]] = f[3]; y[f[1]] = f[4]; a[f[1]] = f[5] } ; next }
    { dx = $3 - x[$2]; dy = $4 - y[$2]; da = ($5 - a[$2]) / 6.283185307179586; da -= int(da + (da > 0 ? .5 : -.5)); n++
      if (dx * dx > 1e-12 || dy * dy > 1e-12 || da * da > 1e-10) { print "pose of " $2 ": " dx, dy, da; bad = 1 } }
    END { exit bad || n != 12 }' poses.csv - || fail "the poses of the page are not those of the run"

"$bin/../tests/make_run" many.h5 11000 8 several || exit 1
"$bin/simview" many.h5 -o many.html --quiet || fail "page of 11,000 grains"
visit many.html 60000
# In real time: pictures drawn one after the other, each read back so that it is done.
cat many.html - >timed.html <<'END'
<script>
const p = window.player, c = document.getElementById('canvas').getContext('2d'), times = [];
for (let i = 0; i < 8; i++) { const t = performance.now(); p.seek(i), p.draw(), c.getImageData(0, 0, 1, 1), times.push(performance.now() - t); }
document.body.append('median ' + times.sort((a, b) => a - b)[4].toFixed(0) + ' ms');
</script>
END
timeout 280 "$chromium" --headless --no-sandbox --disable-gpu --window-size=1000,800 --user-data-dir="$work/profile" --dump-dom \
    "file://$work/timed.html" 2>chromium.log | grep -o 'median [0-9]* ms' || fail "no time: $(tail -n 1 chromium.log)"

[ $failures = 0 ] && echo "the page in $chromium: all right"
exit $((failures > 0))
