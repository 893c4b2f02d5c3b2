import needed from './desktop-programs.json' with { type: 'json' };
import { findProgram } from './find-program.js';

/** Those of `DESKTOP_PACKAGES` that have no program of their own. */
export const DESKTOP_EXTRAS: readonly string[] = needed.others;

/** Names of the Debian packages that desktops are made of, with icons and fonts for all scripts. */
export const DESKTOP_PACKAGES: readonly string[] = [
  ...needed.programs.map(({ name }) => name),
  ...DESKTOP_EXTRAS,
];

/** The packages whose programs are missing in the folders of `path` (a value of `PATH`) and of the system. */
export const missingDesktopPackages = (path: string, find = findProgram): readonly string[] =>
  needed.programs.flatMap(({ programs, name }) =>
    programs.some((program) => find(program, path) !== undefined) ? [] : [name],
  );
