// A plot of ratios: one bar a row on a logarithmic scale, the line at 1 where both take the same, a mark at what is wanted.

const width = 1000;
const left = 510;
const right = 90;
const line = 22;
const top = 58;

const escape = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

/** @param {{what: string, ratio: number, limit: number}[]} rows @param {string} under what was measured, and on what */
export function plot(rows, under) {
  const least = Math.floor(Math.log10(Math.min(0.1, ...rows.map(({ ratio }) => ratio))));
  const most = Math.ceil(Math.log10(Math.max(1.5, ...rows.map(({ ratio }) => ratio))));
  const x = (ratio) => left + ((Math.log10(ratio) - least) / (most - least)) * (width - left - right);
  const height = top + rows.length * line + 48;
  const out = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="11.5">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="16" y="24" font-size="15" fill="#222">Pillion's time or memory, divided by the other program's: less is better</text>`,
  ];
  for (let power = least; power <= most; power++) {
    const at = x(10 ** power);
    out.push(`<line x1="${at}" y1="${top - 6}" x2="${at}" y2="${height - 44}" stroke="${power === 0 ? '#555' : '#ddd'}"/>`, `<text x="${at}" y="${top - 12}" text-anchor="middle" fill="#555">${Number((10 ** power).toPrecision(1))}</text>`);
  }
  rows.forEach(({ what, ratio, limit }, i) => {
    const y = top + i * line;
    const [from, to] = [x(10 ** least), x(ratio)];
    out.push(
      `<text x="${left - 10}" y="${y + 14}" text-anchor="end" fill="#222">${escape(what.length > 84 ? `${what.slice(0, 83)}…` : what)}</text>`,
      `<rect x="${from}" y="${y + 3}" width="${Math.max(1, to - from).toFixed(1)}" height="${line - 8}" fill="${ratio <= limit * 1.1 ? '#3b82c4' : '#c46a3b'}"/>`,
      `<line x1="${x(limit)}" y1="${y + 1}" x2="${x(limit)}" y2="${y + line - 3}" stroke="#222" stroke-width="2"/>`,
      `<text x="${Math.max(to, x(limit)) + 6}" y="${y + 14}" fill="#222">${ratio.toFixed(3)}</text>`,
    );
  });
  out.push(`<text x="16" y="${height - 24}" fill="#555">The black mark is what is wanted.</text>`, `<text x="16" y="${height - 8}" fill="#555">${escape(under)}</text>`, '</svg>', '');
  return out.join('\n');
}
