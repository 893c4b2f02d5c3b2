import { expect, it } from 'vitest';
import { commandsOfPage } from './page-commands.fixture.js';
import { commandsOf, PARTS, REAL_PAGE } from './real-page.fixture.js';

it('docs/run-berth-for-real.md has no command that neither the test of the services nor that of the host runs', () => {
  const run = [...PARTS.services, ...PARTS.host].toSorted();
  expect([...commandsOfPage(REAL_PAGE).keys()].toSorted()).toEqual(run);
  expect(commandsOf(PARTS.host[2], { '/root/': '/elsewhere/' })).toContain('--file=/elsewhere/berth');
});
