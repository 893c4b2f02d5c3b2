import { describeEsdbLottery } from './esdb-lottery.suite.js';

describeEsdbLottery([1]);
