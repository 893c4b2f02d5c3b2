export { readGuestConfig, type GuestConfig } from './config.js';
export { startGuest, type RunningGuest } from './start-guest.js';
