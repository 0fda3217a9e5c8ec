// The website: a page that says what Pillion is, made of docs/site.md, and the docs. It opens from a folder.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** The docs in the order in which they are listed; others follow. */
const order = ['install', 'vscode', 'neovim', 'editors', 'watch', 'agents', 'gateway', 'tools', 'languages', 'settings', 'doctor', 'security', 'protocol'];

/** Pages that are not in docs, and where they go. */
const others = { 'README.md': 'readme.html', 'CHANGELOG.md': 'changes.html', 'ARCHITECTURE.md': 'architecture.html', 'CONTRIBUTING.md': 'contributing.html', 'vscode-extension/README.md': 'extension.html', 'nvim-plugin/README.md': 'plugin.html' };

export function site(release) {
  const MarkdownIt = createRequire(path.join(release.root, 'vscode-extension/package.json'))('markdown-it');
  const { source } = release;
  const folder = path.join(release.out, 'site');
  const place = (name) => (order.indexOf(path.parse(name).name) + 1 || order.length + 1);
  const docs = fs.readdirSync(path.join(source, 'docs')).filter((name) => name.endsWith('.md') && name !== 'site.md').sort((one, other) => place(one) - place(other));
  const pages = { 'docs/site.md': 'index.html', ...Object.fromEntries(docs.map((name) => [`docs/${name}`, name.replace(/md$/, 'html')])), ...others };
  const drawn = Object.entries(pages).map(([file, page]) => ({ page, ...draw(new MarkdownIt({ html: true }), file, pages, source) }));
  const guides = drawn.filter(({ page }) => page !== 'index.html');
  for (const { page, title, body } of drawn) {
    const links = guides.map((other) => `<li><a href="${other.page}"${other.page === page ? ' aria-current="page"' : ''}>${other.title}</a></li>`).join('');
    release.write(path.join(folder, page), layout({ title, body, links, page, version: release.version }));
  }
  fs.cpSync(path.join(source, 'docs/images'), path.join(folder, 'images'), { recursive: true });
  for (const file of ['docs/bench.svg', 'scripts/release/site.css', 'LICENSE']) fs.copyFileSync(path.join(source, file), path.join(folder, path.basename(file)));
}

/** A page's title and body; its links lead to the other pages of the site, and its headings can be linked to as on a forge. */
function draw(md, file, pages, source) {
  let title = '';
  const used = new Map();
  const link = (target) => {
    if (/^[a-z]+:|^#/.test(target)) return target;
    const [name, anchor] = target.split('#');
    const place = path.posix.join(path.posix.dirname(file), name);
    return (pages[place] ?? (place.startsWith('docs/') ? place.slice(5) : place)) + (anchor ? `#${anchor}` : '');
  };
  const tokens = md.parse(fs.readFileSync(path.join(source, file), 'utf8'), {});
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open') {
      const words = tokens[at + 1].children.filter((child) => child.type === 'text' || child.type === 'code_inline').map((child) => child.content).join('');
      const slug = words.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
      const times = used.get(slug) ?? 0;
      used.set(slug, times + 1);
      token.attrSet('id', times ? `${slug}-${times}` : slug);
      title ||= md.utils.escapeHtml(words);
    }
    for (const child of token.children ?? []) {
      for (const attribute of ['href', 'src']) if (child.attrGet(attribute)) child.attrSet(attribute, link(child.attrGet(attribute)));
    }
  });
  return { title, body: md.renderer.render(tokens, md.options, {}) };
}

function layout({ title, body, links, page, version }) {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page === 'index.html' ? title : `${title} · Pillion`}</title>
<link rel="stylesheet" href="site.css">
<body class="${page === 'index.html' ? 'front' : 'page'}">
<header><a href="index.html">Pillion</a> <span>${version}</span></header>
<nav aria-label="Pages"><ul>${links}</ul></nav>
<main>
${body}</main>
</body>
</html>
`;
}
