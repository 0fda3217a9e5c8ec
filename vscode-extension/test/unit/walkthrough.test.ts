import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isName } from "../../src/connect";

interface Step {
  id: string;
  description: string;
  media: { svg?: string; markdown?: string; altText?: string };
  completionEvents: string[];
}

interface Manifest {
  name: string;
  publisher: string;
  contributes: {
    commands: { command: string }[];
    configuration: { properties: Record<string, unknown> };
    walkthroughs: { id: string; steps: Step[] }[];
  };
}

const read = (name: string): string => readFileSync(name, "utf8");
const manifest = JSON.parse(read("package.json")) as Manifest;
const { commands, configuration, walkthroughs } = manifest.contributes;
const steps = walkthroughs.flatMap((walkthrough) => walkthrough.steps);
const own = new Set(commands.map(({ command }) => command));

test("every link and every event of the walkthrough leads somewhere", () => {
  assert.equal(steps.length, 5);
  const named: string[] = [];
  for (const { description, completionEvents, id } of steps) {
    const links = [...description.matchAll(/\]\(command:([\w.]+)(?:\?([^)]*))?\)/g)];
    assert.ok(links.length > 0, `${id} has something to press`);
    for (const [, command = "", argument] of links) {
      named.push(command);
      if (argument !== undefined) {
        const given: unknown = JSON.parse(decodeURIComponent(argument));
        assert.ok(command !== "pillion.connectAgent" || isName(given), `${id}: ${argument}`);
      }
    }
    assert.ok(completionEvents.length > 0, `${id} can be ticked`);
    for (const event of completionEvents) {
      const [kind, what = ""] = event.split(/:(.*)/);
      if (kind === "onCommand") named.push(what);
      else if (kind === "onSettingChanged") assert.ok(what in configuration.properties, event);
      else assert.ok(kind === "onContext" && read("src/walkthrough.ts").includes(`"${what}"`), event);
    }
  }
  for (const command of named) {
    assert.ok(own.has(command) || command.startsWith("workbench.action."), `${command} is a command`);
  }
});

test("the command that opens the walkthrough names it", () => {
  assert.ok(read("src/walkthrough.ts").includes(`"${manifest.publisher}.${manifest.name}#${walkthroughs[0]?.id ?? ""}"`));
});

test("its pictures are there, are packaged, and can be read aloud", () => {
  const shown = steps.map(({ media }) => media.svg ?? media.markdown ?? "");
  assert.deepEqual([...shown].sort(), readdirSync("media/walkthrough").map((name) => `media/walkthrough/${name}`).sort());
  assert.ok(read(".vscodeignore").includes("!media/walkthrough/**"));
  for (const { media } of steps) {
    assert.ok(media.markdown !== undefined || media.altText, JSON.stringify(media));
    if (media.svg) assert.match(read(join(media.svg)), /^<svg [^>]*viewBox=/);
  }
});

test("what stands in a box fits it", () => {
  for (const { media } of steps.filter((step) => step.media.markdown)) {
    const boxes = [...read(media.markdown ?? "").matchAll(/^```.*\n([^]*?)^```/gm)];
    for (const line of boxes.flatMap(([, box = ""]) => box.split("\n"))) {
      assert.ok(line.length <= 46, line);
    }
  }
});
