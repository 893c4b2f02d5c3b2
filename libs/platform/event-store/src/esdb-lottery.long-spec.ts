import { freshSeeds } from '@berth/testing';
import { describeEsdbLottery } from './esdb-lottery.suite.js';

describeEsdbLottery(freshSeeds(20));
