export { BackgroundWork } from './background-work.js';
export { runMain, type Main, type Stoppable } from './run-main.js';
