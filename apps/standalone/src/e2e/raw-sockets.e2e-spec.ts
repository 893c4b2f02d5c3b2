import { describeRawSockets } from './raw-sockets.suite.js';

describeRawSockets({ cases: 'one', flood: 600 });
