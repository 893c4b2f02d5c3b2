import { readFileSync } from 'node:fs';

/** The text of a page in docs. */
export const readPage = (name: string): string =>
  readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8');

/** A block of these languages shows a file. */
const FILES: ReadonlySet<string> = new Set(['html']);

/** The commands of a page, as one script by the heading that they are below. Throws if a block is not `sh`. */
export const commandsOfPage = (text: string): ReadonlyMap<string, string> => {
  const scripts = new Map<string, string>();
  let heading = '';
  for (const [, title, language = '', block = ''] of text.matchAll(
    /^## (.+)$|^```(\S*)\n([\s\S]*?)^```$/gm,
  )) {
    if (title !== undefined) heading = title;
    else if (language === 'sh') scripts.set(heading, `${scripts.get(heading) ?? ''}${block}`);
    else if (!FILES.has(language)) throw new Error(`A block below "${heading}" is not sh.`);
  }
  return scripts;
};

/** The commands below a heading, with each text of `instead` replaced. Throws if there are none. */
export const commandsBelow = (
  text: string,
  heading: string,
  instead: Readonly<Record<string, string>>,
): string => {
  const commands = commandsOfPage(text).get(heading);
  if (commands === undefined) throw new Error(`There are no commands below "${heading}".`);
  return Object.entries(instead).reduce(
    (script, [written, used]) => script.replaceAll(written, used),
    commands,
  );
};
