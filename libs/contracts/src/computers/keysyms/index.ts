// What enters keys needs no more than this, and none of the schemas.
export { characterKeysymOf } from '../actions/character-keysym.js';
