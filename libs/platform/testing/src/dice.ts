export { Dice } from '@berth/testing';
