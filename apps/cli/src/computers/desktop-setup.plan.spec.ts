import { describe, expect, it } from 'vitest';
import { planDesktopSetup, systemsIn, type DesktopMachine } from './desktop-setup.plan.js';

const debian: DesktopMachine = {
  missing: ['openbox', 'xterm'],
  systems: ['debian'],
  hasAptGet: true,
  isRoot: true,
};

describe('the setup of desktops', () => {
  it('does nothing where nothing is missing', () => {
    expect(planDesktopSetup({ ...debian, missing: [], systems: ['arch'] })).toBeUndefined();
  });

  it('installs exactly what is missing on Debian, Ubuntu and what is like them, as root', () => {
    for (const systems of [['debian'], ['ubuntu', 'debian'], ['pop', 'ubuntu', 'debian']]) {
      const step = planDesktopSetup({ ...debian, systems });
      expect(step?.kind === 'run' && step.commands.map((command) => command.join(' '))).toEqual([
        'apt-get update -q',
        'apt-get install -y -q --no-install-recommends --no-remove openbox xterm',
      ]);
    }
  });

  it('says what to run as root', () => {
    const step = planDesktopSetup({ ...debian, isRoot: false });
    expect(step?.kind === 'tell' && step.text).toMatch(/^ {2}sudo apt-get install .* openbox xterm$/m);
  });

  it('says what to install elsewhere', () => {
    const step = planDesktopSetup({ ...debian, systems: ['fedora'], hasAptGet: false });
    expect(step?.kind === 'tell' && step.text).toContain('openbox, xterm');
  });

  it('knows a system by what it is like', () => {
    expect(systemsIn('NAME="Pop!_OS"\nID=pop\nID_LIKE="ubuntu debian"\nVERSION_ID="22"\n')).toEqual([
      ...['pop', 'ubuntu', 'debian'],
    ]);
  });
});
