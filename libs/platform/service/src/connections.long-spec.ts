import { describeConnections } from './connections.suite.js';

describeConnections(30, 4);
