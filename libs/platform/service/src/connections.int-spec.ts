import { describeConnections } from './connections.suite.js';

describeConnections(10, 3);
