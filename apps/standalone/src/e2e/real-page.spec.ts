import { describe, expect, it } from 'vitest';
import { commandsBelow, commandsOfPage, PARTS } from './real-page.fixture.js';

describe('docs/run-berth-for-real.md', () => {
  it('has no command that neither the test of the services nor that of the host runs', () => {
    const run = [...PARTS.services, ...PARTS.host].toSorted();
    expect([...commandsOfPage().keys()].toSorted()).toEqual(run);
  });
});

describe('the commands of a page', () => {
  it('are those of all blocks below a heading, in their order', () => {
    const page = '## One\n\n```sh\na\n```\n\nText.\n\n```sh\nb\n```\n\n## Two\n\n```sh\nc\n```\n';
    expect([...commandsOfPage(page)]).toEqual([
      ['One', 'a\nb\n'],
      ['Two', 'c\n'],
    ]);
  });

  it('are in no block of another language', () => {
    expect(() => commandsOfPage('## One\n\n```\na\n```\n')).toThrow('A block below "One" is not sh.');
  });

  it('are read with the replacements of a test', () => {
    expect(commandsBelow(PARTS.host[2], { '/root/': '/elsewhere/' })).toContain('--file=/elsewhere/berth');
    expect(() => commandsBelow('No heading', {})).toThrow('no commands');
  });
});
