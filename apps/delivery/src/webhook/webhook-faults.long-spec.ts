import { freshSeeds } from '@berth/testing';
import { describeWebhookFaults } from '../fixtures/webhook-faults/webhook-faults.suite.js';

describeWebhookFaults(freshSeeds(1_000));
