import { describeWebhookFaults } from '../fixtures/webhook-faults/webhook-faults.suite.js';

describeWebhookFaults();
