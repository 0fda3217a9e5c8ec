// lua-format.mjs --tool FOLDER [--write | --stdin] [FILE…]: StyLua with this project's style. Prints the files that are not formatted
// and exits with 1, or writes them anew.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tool: { type: 'string' }, write: { type: 'boolean' }, stdin: { type: 'boolean' } },
});
const stylua = createRequire(path.join(path.resolve(values.tool), 'package.json'))('@johnnymorganz/stylua');

if (values.stdin) {
  process.stdout.write(formatted(fs.readFileSync(0, 'utf8')));
} else {
  const unformatted = positionals.filter((file) => formatted(fs.readFileSync(file, 'utf8')) !== fs.readFileSync(file, 'utf8'));
  for (const file of unformatted) {
    if (values.write) fs.writeFileSync(file, formatted(fs.readFileSync(file, 'utf8')));
    else console.log(file);
  }
  if (unformatted.length > 0 && !values.write) process.exitCode = 1;
}

function formatted(source) {
  const style = stylua.Config.new(); // formatCode takes it for good
  style.column_width = 140;
  style.indent_type = stylua.IndentType.Spaces;
  style.indent_width = 2;
  return stylua.formatCode(source, style, undefined, stylua.OutputVerification.Full);
}
