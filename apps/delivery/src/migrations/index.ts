import type { Migration } from '@berth/persistence';
import { createDeliveryTables } from './2026-11-21-delivery.js';
import { createCountedMessages } from './2026-11-22-counted-messages.js';
import { createAcceptedWebhooks } from './2026-11-23-accepted-webhooks.js';
import { createRefusedWebhooks } from './2026-11-28-refused-webhooks.js';
import { createRecentWebhooks } from './2026-11-26-recent-webhooks.js';
import { createWebhooks } from './2026-11-23-webhooks.js';

/** In the order in which they run. */
export const migrations: readonly Migration[] = [
  createDeliveryTables,
  createCountedMessages,
  createWebhooks,
  createAcceptedWebhooks,
  createRecentWebhooks,
  createRefusedWebhooks,
];
