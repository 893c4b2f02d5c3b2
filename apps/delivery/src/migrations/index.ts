import type { Migration } from '@berth/persistence';
import { createDeliveryTables } from './2026-11-21-delivery.js';
import { createCountedMessages } from './2026-11-22-counted-messages.js';

/** All of the service's, oldest first. */
export const migrations: readonly Migration[] = [createDeliveryTables, createCountedMessages];
