import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkShownFiles, writeShownFiles } from './shown-files.mjs';
import { Scratch } from './workspace.fixture.js';

const COMMENT = '<!-- The content of a.html, written by npm run pages -->';
const page = (content: string): string =>
  `# Page\n\n${COMMENT}\n\n\`\`\`html\n${content}\`\`\`\n\n\`\`\`sh\na\n\`\`\`\n`;

it('pages show files as they are, once the files are written into them', () => {
  using scratch = new Scratch();
  scratch.write('a.html', '<p>$&</p>\n').write('docs/page.md', page('<p>old</p>\n'));
  expect(checkShownFiles({ root: scratch.root })).toEqual({
    problems: ['docs/page.md shows a file as it was: run npm run pages'],
    read: 1,
  });
  writeShownFiles({ root: scratch.root });
  expect(readFileSync(join(scratch.root, 'docs/page.md'), 'utf8')).toBe(page('<p>$&</p>\n'));
  expect(checkShownFiles({ root: scratch.root })).toEqual({ problems: [], read: 1 });
  rmSync(join(scratch.root, 'a.html'));
  expect(checkShownFiles({ root: scratch.root }).problems[0]).toContain('a.html, which does not exist');
});
