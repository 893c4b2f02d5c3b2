import { describe, expect, it } from 'vitest';
import { commandsBelow, commandsOfPage } from './page-commands.fixture.js';

describe('the commands of a page', () => {
  const PAGE =
    '## One\n\n```sh\na\n```\n\nText.\n\n```sh\nb\n```\n\n## Two\n\n```sh\nc\n```\n\n```html\n<p>\n```\n';

  it('are those of all blocks below a heading, in their order, without the files that it shows', () => {
    expect([...commandsOfPage(PAGE)]).toEqual([
      ['One', 'a\nb\n'],
      ['Two', 'c\n'],
    ]);
  });

  it('are in no block of another language', () => {
    expect(() => commandsOfPage('## One\n\n```\na\n```\n')).toThrow('A block below "One" is not sh.');
  });

  it('are read with the replacements of a test', () => {
    expect(commandsBelow(PAGE, 'One', { a: 'd' })).toBe('d\nb\n');
    expect(() => commandsBelow(PAGE, 'No heading', {})).toThrow('no commands');
  });
});
