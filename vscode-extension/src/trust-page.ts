// The read-only page on which a human decides whether the project's own settings may loosen theirs. Pure: pages.ts shows it.

import { visible } from "./escape";
import type { SettingsUntrusted } from "./protocol";
import { type Page, Sheet } from "./sheet";

export function trustPage({ path, rules }: SettingsUntrusted): Page {
  const sheet = new Sheet();
  if ((rules ?? []).length === 0) {
    sheet.line("The project's settings ask for nothing that waits for your trust", "heading");
    sheet.gap();
    sheet.line("This tab may be closed.");
    return sheet.page();
  }
  sheet.line("This project's settings ask for more than you allow", "heading");
  sheet.gap();
  sheet.code((rules ?? []).map(visible), "  ", "  ");
  sheet.gap();
  sheet.fact("Where", [visible(path)]);
  sheet.fact("Until then", ["none of these counts; what the file forbids counts already"]);
  sheet.gap();
  sheet.answer("Trust These Rules", "they apply in this folder, on this machine, until the file changes");
  sheet.answer("close this tab", "nothing changes; the view keeps the question");
  return sheet.page();
}
