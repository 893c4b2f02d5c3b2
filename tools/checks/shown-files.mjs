import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Pages show files of the repository in fenced blocks, each below a comment that names the file.

const SHOWN = /^<!-- The content of (\S+), written by npm run pages -->\n\n(```\w+)\n[\s\S]*?^```$/gm;

const pagesOf = (root) => globSync('docs/*.md', { cwd: root }).sort();

/** The text of a page with the current content of the files that it shows. Throws if one of them is missing. */
export const renderShownFiles = (text, read) =>
  text.replaceAll(SHOWN, (block, path, fence) => {
    const [comment] = block.split('\n', 1);
    return `${comment}\n\n${fence}\n${read(path)}\`\`\``;
  });

/** Writes the files into the pages that show them. */
export const writeShownFiles = ({ root }) => {
  for (const page of pagesOf(root)) {
    const text = readFileSync(join(root, page), 'utf8');
    const current = renderShownFiles(text, (path) => readFileSync(join(root, path), 'utf8'));
    if (current !== text) writeFileSync(join(root, page), current);
  }
};

/** Checks that pages show the files that they name as they are. */
export const checkShownFiles = ({ root }) => {
  const problems = [];
  let read = 0;
  for (const page of pagesOf(root)) {
    const text = readFileSync(join(root, page), 'utf8');
    const current = renderShownFiles(text, (path) => {
      read++;
      if (existsSync(join(root, path))) return readFileSync(join(root, path), 'utf8');
      problems.push(`${page} shows ${path}, which does not exist`);
      return '';
    });
    if (current !== text) problems.push(`${page} shows a file as it was: run npm run pages`);
  }
  return { problems, read };
};
