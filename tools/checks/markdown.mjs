/** Extracts parts of Markdown text for the checks. Ignores fenced code. */

const FENCE = /^(```|~~~)[\s\S]*?^\1\s*$/gm;

/** The text with fenced blocks blanked out, so that line numbers stay the same. */
export const withoutFences = (text) => text.replace(FENCE, (block) => block.replace(/[^\n]/g, ''));

/** Every link target: `[text](target)`, images too. */
export const linksOf = (text) =>
  [...withoutFences(text).matchAll(/\]\(([^()\s]+)(?:\s+"[^"]*")?\)/g)].map((match) => match[1]);

/** Every piece of inline code. */
export const inlineCode = (text) =>
  [...withoutFences(text).matchAll(/`([^`\n]+)`/g)].map((match) => match[1]);

/** The anchors that GitHub generates for the headings. */
export const anchorsOf = (text) =>
  new Set([...withoutFences(text).matchAll(/^#{1,6}\s+(.+?)\s*$/gm)].map((match) => slugOf(match[1])));

const slugOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
