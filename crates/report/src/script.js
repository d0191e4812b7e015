(function () {
'use strict';
// Crosshair, hidden lines and zoom on charts over time; sortable tables. The page is whole without any of it.
var MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
function all(root, css) { return Array.prototype.slice.call(root.querySelectorAll(css)); }
function make(tag, cls, text) {
  var e = document.createElement(tag);
  if (cls) e.className = cls;
  if (text !== undefined) e.textContent = text;
  return e;
}
function draw(svg, tag, attributes, text) {
  var e = document.createElementNS(svg.namespaceURI, tag);
  for (var k in attributes) e.setAttribute(k, attributes[k]);
  if (text !== undefined) e.textContent = text;
  svg.appendChild(e);
  return e;
}
function two(n) { return (n < 10 ? '0' : '') + n; }
function day(s) {
  var d = new Date(s * 1000);
  return d.getUTCDate() + ' ' + MONTHS[d.getUTCMonth()] + ' ' + d.getUTCFullYear();
}
function clock(s) { var d = new Date(s * 1000); return two(d.getUTCHours()) + ':' + two(d.getUTCMinutes()); }
function number(v, decimals) {
  var t = Math.abs(v).toFixed(decimals).split('.');
  t[0] = t[0].replace(/\B(?=(\d{3})+$)/g, ',');
  return (v < 0 && /[1-9]/.test(t.join('')) ? '\u2212' : '') + t.join('.');
}
// First index whose x is at least s.
function at(x, s) {
  var low = 0, high = x.length;
  while (low < high) { var mid = (low + high) >> 1; if (x[mid] < s) low = mid + 1; else high = mid; }
  return low;
}

function Plot(box) {
  var data = JSON.parse(box.getAttribute('data-plot'));
  data.series.forEach(function (s) {
    for (var k = 1; k < s.x.length; k++) s.x[k] += s.x[k - 1];
  });
  var tip = make('div', 'tip'); tip.hidden = true; box.appendChild(tip);
  var reset = make('button', 'reset', 'Reset zoom'); reset.type = 'button'; reset.hidden = true; box.appendChild(reset);
  var hidden = {};
  var charts = all(box, 'svg[data-panels]').map(function (svg) {
    var panels = svg.getAttribute('data-panels').split(';').map(function (t) {
      var n = t.split(' ').map(Number);
      return { left: n[0], top: n[1], width: n[2], height: n[3], x0: n[4], x1: n[5], y0: n[6], y1: n[7] };
    });
    return {
      svg: svg, panels: panels, now: panels, added: [], cross: null, brush: null,
      paths: all(svg, 'path[data-s]').map(function (p) { return { e: p, d: p.getAttribute('d') }; }),
      axes: all(svg, '.grid,.tick,.zero')
    };
  });
  function place(chart, event) {
    var r = chart.svg.getBoundingClientRect(), v = chart.svg.viewBox.baseVal;
    return { x: (event.clientX - r.left) * v.width / r.width, y: (event.clientY - r.top) * v.height / r.height };
  }
  function seconds(chart, px) {
    var p = chart.now[0], share = Math.min(1, Math.max(0, (px - p.left) / p.width));
    return p.x0 + share * (p.x1 - p.x0);
  }
  function show(s) { return s.n && !hidden[s.c]; }
  function hover(chart, event) {
    var where = place(chart, event), s = seconds(chart, where.x), seen = null;
    data.series.forEach(function (line) {
      if (!show(line) || !line.x.length) return;
      var k = Math.min(at(line.x, s), line.x.length - 1);
      if (k > 0 && s - line.x[k - 1] < line.x[k] - s) k--;
      if (seen === null || Math.abs(line.x[k] - s) < Math.abs(seen - s)) seen = line.x[k];
    });
    if (seen === null) return leave();
    tip.textContent = '';
    tip.appendChild(make('b', '', day(seen) + ' ' + clock(seen)));
    var before = -1;
    data.series.forEach(function (line) {
      if (!show(line) || !line.x.length) return;
      var k = Math.min(at(line.x, seen), line.x.length - 1), f = data.panels[line.p];
      var row = make('div', 'tip-row' + (line.p !== before && before >= 0 ? ' tip-next' : ''));
      before = line.p;
      row.appendChild(make('span', 'key ' + line.c));
      row.appendChild(make('span', 'tip-name', line.n));
      row.appendChild(make('span', 'tip-value', number(line.y[k] * f.k, f.d) + f.a));
      tip.appendChild(row);
    });
    var first = chart.now[0], last = chart.now[chart.now.length - 1];
    var px = first.left + (seen - first.x0) / (first.x1 - first.x0) * first.width;
    if (!chart.cross) chart.cross = draw(chart.svg, 'line', { 'class': 'cross' });
    px = Math.min(first.left + first.width, Math.max(first.left, px));
    var line = { x1: px, x2: px, y1: first.top, y2: last.top + last.height };
    for (var k in line) chart.cross.setAttribute(k, line[k]);
    chart.cross.style.display = '';
    tip.hidden = false;
    var r = chart.svg.getBoundingClientRect(), b = box.getBoundingClientRect();
    var x = r.left - b.left + px * r.width / chart.svg.viewBox.baseVal.width;
    var right = x + 14 + tip.offsetWidth > b.width;
    tip.style.left = Math.max(0, right ? x - 14 - tip.offsetWidth : x + 14) + 'px';
    tip.style.top = Math.max(0, event.clientY - b.top - tip.offsetHeight - 12) + 'px';
  }
  function leave() {
    tip.hidden = true;
    charts.forEach(function (chart) { if (chart.cross) chart.cross.style.display = 'none'; });
  }
  // Values within a span; those at its edges are interpolated, or held in steps.
  function within(s, low, high, values, step) {
    var from = at(s.x, low), to = at(s.x, high), out = [];
    function edge(k, x) {
      if (k <= 0 || k >= s.x.length) return;
      var w = (x - s.x[k - 1]) / (s.x[k] - s.x[k - 1]);
      out.push([x, step ? values[k] : values[k - 1] + w * (values[k] - values[k - 1])]);
    }
    edge(from, low);
    for (var k = from; k < to; k++) out.push([s.x[k], values[k]]);
    if (to < s.x.length && s.x[to] === high) out.push([high, values[to]]); else edge(to, high);
    return out;
  }
  function path(p, kind, s, side) {
    var X = function (x) { return (p.left + (x - p.x0) / (p.x1 - p.x0) * p.width).toFixed(1); };
    var Y = function (y) { return (p.top + (p.y1 - y) / (p.y1 - p.y0) * p.height).toFixed(1); };
    var marks = kind === 'up' || kind === 'down', step = kind === 'step' || kind === 'long' || kind === 'short';
    var points = within(s, p.x0, p.x1, s.y, step), d = '';
    if (marks) {
      var h = side * 0.6, down = kind === 'up' ? side : -side;
      for (var k = at(s.x, p.x0); k < s.x.length && s.x[k] <= p.x1; k++)
        d += 'M' + X(s.x[k]) + ' ' + Y(s.y[k]) + 'l' + h + ' ' + down + 'h' + -2 * h + 'z';
      return d;
    }
    if (!points.length) return '';
    var keep = kind === 'long' ? function (y) { return Math.max(y, 0); }
      : kind === 'short' ? function (y) { return Math.min(y, 0); } : function (y) { return y; };
    points.forEach(function (v, k) {
      var y = Y(keep(v[1]));
      d += k === 0 ? 'M' + X(v[0]) + ' ' + y : (step ? 'V' + y : '') + 'L' + X(v[0]) + ' ' + y;
    });
    if (kind === 'band') {
      within(s, p.x0, p.x1, s.z).reverse().forEach(function (v) { d += 'L' + X(v[0]) + ' ' + Y(v[1]); });
      return d + 'Z';
    }
    if (kind === 'fill' || kind === 'long' || kind === 'short')
      return d + 'L' + X(points[points.length - 1][0]) + ' ' + Y(0) + 'L' + X(points[0][0]) + ' ' + Y(0) + 'Z';
    return d;
  }
  function step(span, count) {
    var power = Math.pow(10, Math.floor(Math.log10(span / count)));
    return [1, 2, 5, 10].map(function (m) { return m * power; }).filter(function (s) { return span / s <= count; })[0] || span;
  }
  function axes(chart, p, k) {
    function add(tag, attributes, text) {
      var e = draw(chart.svg, tag, attributes, text);
      chart.svg.insertBefore(e, chart.svg.firstChild);
      chart.added.push(e);
      return e;
    }
    var f = data.panels[k], by = step(p.y1 - p.y0, Math.max(3, Math.floor(p.height / 36)));
    var decimals = Math.max(0, -Math.floor(Math.log10(by * f.k) + 1e-9));
    for (var i = Math.ceil(p.y0 / by); i * by <= p.y1; i++) {
      var y = p.top + (p.y1 - i * by) / (p.y1 - p.y0) * p.height;
      add('line', { 'class': 'grid', x1: p.left, x2: p.left + p.width, y1: y, y2: y });
      var size = Math.abs(i * by), of = size >= 1e6 ? 1e6 : p.left < 60 && size >= 1e4 ? 1e3 : 0;
      var label = of ? number(i * by / of, Math.max(0, -Math.floor(Math.log10(by / of) + 1e-9))) + (of === 1e6 ? 'M' : 'k')
        : number(i * by * f.k, decimals) + (f.a.indexOf('%') >= 0 ? '\u202f%' : '');
      var tick = add('text', { 'class': 'tick', x: p.left - 8, y: y + 4, 'text-anchor': 'end' }, label);
      if (tick.getComputedTextLength() > p.left - 9) {
        tick.setAttribute('textLength', p.left - 10);
        tick.setAttribute('lengthAdjust', 'spacingAndGlyphs');
      }
    }
    var H = 3600, D = 86400, span = p.x1 - p.x0, most = Math.max(2, Math.floor(p.width / 92));
    var steps = [60, 300, 900, 1800, H, 2 * H, 3 * H, 6 * H, 12 * H, D, 2 * D, 5 * D, 10 * D, 30 * D, 60 * D, 90 * D, 180 * D, 365 * D, 1826 * D];
    var of = steps.filter(function (s) { return span / s <= most; })[0] || span;
    for (var t = Math.ceil(p.x0 / of) * of; t <= p.x1; t += of) {
      var x = p.left + (t - p.x0) / span * p.width;
      add('line', { 'class': 'grid', x1: x, x2: x, y1: p.top, y2: p.top + p.height });
      var text = of < D && t % D ? clock(t) : span > 300 * D ? day(t).slice(day(t).indexOf(' ') + 1) : day(t).slice(0, -5);
      var end = x > p.left + p.width - 28;
      if (k === chart.now.length - 1)
        add('text', { 'class': 'tick', x: Math.max(x, p.left + 12), y: p.top + p.height + 16, 'text-anchor': end ? 'end' : 'middle' }, text);
    }
  }
  function restore(chart) {
    chart.now = chart.panels;
    chart.added.forEach(function (e) { e.remove(); });
    chart.added = [];
    chart.axes.forEach(function (e) { e.style.display = ''; });
    chart.paths.forEach(function (p) { p.e.setAttribute('d', p.d); });
  }
  function zoom(low, high) {
    leave();
    charts.forEach(function (chart) {
      restore(chart);
      chart.axes.forEach(function (e) { e.style.display = 'none'; });
      chart.now = chart.panels.map(function (p, k) {
        var y0 = 1e300, y1 = -1e300;
        data.series.forEach(function (s) {
          if (s.p !== k || hidden[s.c]) return;
          [s.y, s.z].forEach(function (values) {
            if (values) within(s, low, high, values).forEach(function (v) { y0 = Math.min(y0, v[1]); y1 = Math.max(y1, v[1]); });
          });
        });
        if (data.panels[k].zero) { y0 = Math.min(y0, 0); y1 = Math.max(y1, 0); }
        if (y0 > y1) { y0 = p.y0; y1 = p.y1; }
        var room = (y1 - y0) * 0.06 || Math.abs(y1) * 0.01 || 1;
        var below = p.y1 === 0 ? 0 : room;
        return { left: p.left, top: p.top, width: p.width, height: p.height, x0: low, x1: high, y0: y0 - room, y1: y1 + below };
      });
      chart.now.forEach(function (p, k) { axes(chart, p, k); });
      chart.paths.forEach(function (p) {
        var s = data.series[p.e.getAttribute('data-s')];
        p.e.setAttribute('d', path(chart.now[s.p], p.e.getAttribute('data-k'), s, chart.panels[0].left < 60 ? 6 : 7));
      });
    });
    reset.hidden = false;
  }
  function back() { charts.forEach(restore); reset.hidden = true; leave(); }
  reset.addEventListener('click', back);
  charts.forEach(function (chart) {
    var from = null, fingers = {}, waits = false;
    // Two fingers keep the times that they were put on.
    function pinch() {
      waits = false;
      var f = Object.keys(fingers).map(function (id) { return fingers[id]; });
      if (f.length !== 2) return;
      f.sort(function (a, b) { return a.s - b.s; });
      if (f[1].x - f[0].x < 20 || f[1].s - f[0].s < 60) return;
      var whole = chart.panels[0], each = (f[1].s - f[0].s) / (f[1].x - f[0].x), low = f[0].s - (f[0].x - whole.left) * each;
      var high = Math.min(whole.x1, low + whole.width * each);
      low = Math.max(whole.x0, low);
      if (low <= whole.x0 && high >= whole.x1) back();
      else if (high - low > 120) zoom(Math.round(low), Math.round(high));
    }
    function lift(e) { delete fingers[e.pointerId]; }
    chart.svg.addEventListener('pointerdown', function (e) {
      if (e.pointerType === 'touch') { var x = place(chart, e).x; fingers[e.pointerId] = { x: x, s: seconds(chart, x) }; }
      else if (e.button === 0) { from = place(chart, e).x; chart.svg.setPointerCapture(e.pointerId); e.preventDefault(); }
    });
    chart.svg.addEventListener('pointermove', function (e) {
      if (fingers[e.pointerId]) {
        fingers[e.pointerId].x = place(chart, e).x;
        if (Object.keys(fingers).length > 1) {
          if (!waits) { waits = true; requestAnimationFrame(pinch); }
          return;
        }
      }
      if (from === null) return hover(chart, e);
      leave();
      var p = chart.now[0], last = chart.now[chart.now.length - 1], to = place(chart, e).x;
      var edge = function (x) { return Math.min(p.left + p.width, Math.max(p.left, x)); };
      if (!chart.brush) chart.brush = draw(chart.svg, 'rect', { 'class': 'brush' });
      var r = { x: edge(Math.min(from, to)), width: Math.abs(edge(to) - edge(from)), y: p.top, height: last.top + last.height - p.top };
      for (var k in r) chart.brush.setAttribute(k, r[k]);
    });
    function end(e) {
      if (from === null) return;
      var to = place(chart, e).x, a = seconds(chart, Math.min(from, to)), b = seconds(chart, Math.max(from, to));
      if (chart.brush) { chart.brush.remove(); chart.brush = null; }
      var far = Math.abs(to - from) > 6;
      from = null;
      if (far && b - a > 120) zoom(Math.round(a), Math.round(b));
    }
    ['pointerup', 'pointercancel'].forEach(function (name) {
      chart.svg.addEventListener(name, end);
      document.addEventListener(name, lift);
    });
    chart.svg.addEventListener('pointerleave', leave);
    chart.svg.addEventListener('dblclick', back);
  });
  // A legend's item hides its lines.
  var figure = box.parentNode;
  all(figure, '[data-key]').forEach(function (item) {
    var key = item.getAttribute('data-key');
    item.setAttribute('role', 'button'); item.setAttribute('tabindex', '0'); item.setAttribute('aria-pressed', 'true');
    item.title = 'Show or hide';
    function toggle() {
      hidden[key] = !hidden[key];
      item.setAttribute('aria-pressed', String(!hidden[key]));
      charts.forEach(function (chart) {
        var css = key.slice(4);
        chart.paths.forEach(function (p) {
          var names = p.e.getAttribute('class').split(' ');
          if (names.indexOf(css) >= 0 || (css === 'agent' && names[0] === 'underwater')) p.e.style.display = hidden[key] ? 'none' : '';
        });
      });
    }
    item.addEventListener('click', toggle);
    item.addEventListener('keydown', function (e) { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); toggle(); } });
  });
}

function sortable(table) {
  var heads = all(table, 'thead th'), body = table.tBodies[0];
  function value(row, k) {
    var cell = row.cells[k], v = cell ? cell.getAttribute('data-v') || cell.textContent : '';
    var n = parseFloat(v.replace(/\u2212/g, '-').replace(/[,\s]/g, ''));
    return isFinite(n) ? n : v.trim();
  }
  heads.forEach(function (head, k) {
    if (!head.textContent.trim()) return;
    head.classList.add('sorts'); head.setAttribute('tabindex', '0'); head.title = 'Sort';
    function sort() {
      var down = head.getAttribute('aria-sort') !== 'descending';
      heads.forEach(function (h) { h.removeAttribute('aria-sort'); });
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      all(body, 'tr').sort(function (a, b) {
        var x = value(a, k), y = value(b, k), text = typeof x === 'string' || typeof y === 'string';
        if (typeof x !== typeof y) return typeof x === 'string' ? 1 : -1;
        var order = text ? String(x).localeCompare(String(y)) : x - y;
        return down ? -order : order;
      }).forEach(function (row) { body.appendChild(row); });
    }
    head.addEventListener('click', sort);
    head.addEventListener('keydown', function (e) { if (e.key === 'Enter') sort(); });
  });
}

// The details of one member at a time; where the chart above has a line of that member, it stands out.
function picker(pick) {
  var key = make('span', 'item');
  key.appendChild(make('span', 'key key-picked'));
  key.appendChild(make('span', ''));
  all(document, '#equity figcaption').forEach(function (caption) { caption.appendChild(key); });
  function show() {
    all(document, 'div[data-member]').forEach(function (e) { e.hidden = e.getAttribute('data-member') !== pick.value; });
    var option = pick.options[pick.selectedIndex], name = option.getAttribute('data-label');
    key.hidden = option.defaultSelected;
    key.lastChild.textContent = name;
    all(document, '#equity .plot').forEach(function (box) {
      var series = JSON.parse(box.getAttribute('data-plot')).series;
      all(box, 'path.member[data-s]').forEach(function (p) {
        p.classList.toggle('picked', series[p.getAttribute('data-s')].n === name);
      });
    });
  }
  // A page that is loaded again keeps what was picked.
  show();
  pick.addEventListener('change', show);
}

all(document, '.plot').forEach(Plot);
all(document, 'select#member').forEach(picker);
all(document, 'table[data-sort]').forEach(sortable);
document.documentElement.classList.add('scripted');
})();
