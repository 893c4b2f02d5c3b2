import type { Migration } from '@berth/persistence';
import { createComputersTables } from './2026-11-28-computers.js';

/** In the order in which they run. */
export const migrations: readonly Migration[] = [createComputersTables];
