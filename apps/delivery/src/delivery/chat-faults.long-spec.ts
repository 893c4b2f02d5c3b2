import { freshSeeds } from '@berth/testing';
import { describeChatFaults } from '../fixtures/chat-faults/chat-faults.suite.js';

describeChatFaults(freshSeeds(1_000));
