export { freePort, NatsServer as NatsServerFixture } from '@berth/testing';
