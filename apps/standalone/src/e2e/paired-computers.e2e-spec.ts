import { describeComputerLoop } from './computer-loop.suite.js';
import { describeComputersPage } from './computers-page.suite.js';
import { describeComputers } from './computers.suite.js';
import { pairedInstallation } from './paired.fixture.js';

// What computers do, and what is done with them.
const { stack } = pairedInstallation();

describeComputers(stack);
describeComputerLoop(stack);
describeComputersPage(stack);
