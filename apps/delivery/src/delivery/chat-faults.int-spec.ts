import { describeChatFaults } from '../fixtures/chat-faults/chat-faults.suite.js';

describeChatFaults();
