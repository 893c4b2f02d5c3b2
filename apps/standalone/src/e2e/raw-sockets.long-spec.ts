import { describeRawSockets } from './raw-sockets.suite.js';

describeRawSockets({ cases: 'every', flood: 3_000 });
