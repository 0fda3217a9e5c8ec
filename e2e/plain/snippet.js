/** What docs/editors.md tells a user to paste: the tests run exactly that. */
import fs from 'node:fs';
import path from 'node:path';
import { tree } from '../rig/places.js';

/** The first block of code in that language under an editor's heading. @param {string} editor @param {string} language */
export function snippet(editor, language) {
  const page = fs.readFileSync(path.join(tree, 'docs/editors.md'), 'utf8');
  const chapter = page.split(/^## /m).find((text) => text.startsWith(editor));
  const code = new RegExp('^```' + language + '\\n([^]*?)^```', 'm').exec(chapter ?? '')?.[1];
  if (!code) throw new Error(`docs/editors.md has no ${language} to paste for ${editor}`);
  return code;
}
