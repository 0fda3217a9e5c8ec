// The read-only page on which a user decides whether the project's own settings may loosen theirs. Pure: pages.ts shows it.

import { visible } from "./escape";
import type { SettingsUntrusted } from "./protocol";
import { type Page, Sheet } from "./sheet";

export function trustPage({ path, rules, problems }: SettingsUntrusted): Page {
  const sheet = new Sheet();
  if ((rules ?? []).length === 0) {
    sheet.line("Nothing in the project's settings needs your trust", "heading");
    sheet.gap();
    sheet.line("You can close this tab.");
    return sheet.page();
  }
  sheet.line("This project's settings ask for more than you allow", "heading");
  sheet.gap();
  sheet.code((rules ?? []).map(visible), "  ", "  ");
  sheet.gap();
  if (problems?.length) {
    sheet.fact({ label: "No effect", text: "", items: problems.map(visible), tone: "warning" });
    sheet.gap();
  }
  sheet.fact({ label: "File", text: visible(path) });
  sheet.fact({ label: "Until then", text: "none of these rules apply; those that restrict agents already do" });
  sheet.gap();
  sheet.answer("Trust These Rules", "they apply in this folder, on this machine, until the file changes");
  sheet.answer("Ignore These Rules", "none of them apply, and you are not asked again until the file changes");
  sheet.answer("Close this tab", "nothing changes; the request stays in the view");
  return sheet.page();
}
