import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DESKTOP_PACKAGES, missingDesktopPackages } from './desktop-programs.js';

describe('the software of desktops', () => {
  const missingWith = (...present: readonly string[]): readonly string[] =>
    missingDesktopPackages('/bin', (name) => (present.includes(name) ? `/bin/${name}` : undefined));

  it('is missing by its packages, one of the alternatives for each being enough', () => {
    const others = ['Xvnc', 'openbox', 'tint2', 'xterm', 'xdg-open', 'file'];
    expect(missingWith(...others)).toEqual(['chromium', 'thunar']);
    expect(missingWith(...others, 'google-chrome', 'pcmanfm')).toEqual([]);
    expect(missingWith()).toEqual(DESKTOP_PACKAGES.slice(0, others.length + 2));
  });

  it('is the same in the image for containers', () => {
    const file = new URL('../../../../infra/images/desktop/Dockerfile', import.meta.url);
    const words = readFileSync(file, 'utf8').split(/\s+/);
    const first = words.indexOf(String(DESKTOP_PACKAGES[0]));
    const installed = words.slice(first).filter((word) => word !== '\\');
    expect(installed.slice(0, DESKTOP_PACKAGES.length)).toEqual(DESKTOP_PACKAGES);
  });
});
