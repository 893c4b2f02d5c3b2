import { missingDesktopPackages } from '@berth/host-requirements';
import type { BoxSource } from '../box-spec.js';
import { DriverError } from '../driver-error.js';
import { SYSTEM_PATH, type CodeFolder } from './workspace-mounts.js';

/** The code of a box; null: it has none. Errors: `spec_unsupported`. */
export const codeOf = (source: BoxSource): CodeFolder | null => {
  if (source.kind === 'desktop') return null;
  if (source.kind !== 'image') return { folder: source.folder, built: source.kind === 'build' };
  throw new DriverError('spec_unsupported', 'The process driver runs no images.');
};

/** Names of the packages that this host lacks for desktops. */
export const missingDesktopSoftware = (): readonly string[] => missingDesktopPackages(SYSTEM_PATH);

/** Errors: `spec_unsupported`. */
export const assertDesktopSoftware = (): void => {
  const missing = missingDesktopSoftware();
  if (missing.length > 0)
    throw new DriverError(
      'spec_unsupported',
      `This host lacks software for desktops: ${missing.join(', ')}.`,
    );
};
