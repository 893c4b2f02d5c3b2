import { readFileSync } from 'node:fs';
import { COMPUTER_DEFAULTS, planActions } from '@berth/contracts/computers';
import { describe, expect, it } from 'vitest';
import { commandsOfPage, readPage } from './page-commands.fixture.js';

const PAGE = readPage('computers.md');
const LOOP = new URL('../../../../docs/examples/computer-loop/loop.mjs', import.meta.url);

describe('docs/computers.md', () => {
  it('shows actions in each form that are valid', () => {
    const shown = [...PAGE.matchAll(/^\|[^|]+\| `(\{.+\})` /gm)].map(([, action = '']): unknown =>
      JSON.parse(action),
    );
    expect(shown).toHaveLength(4);
    const { units } = planActions({ actions: shown }, COMPUTER_DEFAULTS.display);
    expect(units.map(({ vendor }) => vendor.kind)).toEqual(['none', 'none', 'tool_use', 'computer_call']);
  });

  it('says what holds by default, and how long its example is', () => {
    const { display, idleTtlSeconds } = COMPUTER_DEFAULTS;
    expect(PAGE).toContain(`${display.width} × ${display.height} pixels`);
    expect(PAGE).toContain(`\`idleTtlSeconds\` (${idleTtlSeconds};`);
    const lines = readFileSync(LOOP, 'utf8').trimEnd().split('\n').length;
    expect(PAGE).toContain(`does that in ${lines} lines`);
  });

  it('installs the software of desktops by the command that does', () => {
    expect(commandsOfPage(PAGE).get('Software')).toBe('npm run berth -- computers setup\n');
  });
});
