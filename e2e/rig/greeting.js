/** The small file that agents edit in the tests of every editor, and what is asked of it. */
export const greeting = 'def greet(name):\n    return "Hello " + name\n\n\nprint(greet("you"))\n';
export const files = { 'greet.py': greeting };
export const edit = { path: 'greet.py', old_string: '"Hello " + name', new_string: 'f"Hello, {name}!"' };
export const edited = greeting.replace(edit.old_string, edit.new_string);

/** A text as an editor counts its lines. @param {string} text */
export function lines(text) {
  return text.replace(/\n$/, '').split('\n');
}
