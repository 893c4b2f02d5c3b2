import { describeFilesRace } from './files-race.suite.js';

describeFilesRace(2);
