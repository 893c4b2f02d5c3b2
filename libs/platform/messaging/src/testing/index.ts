export { FakeResponder } from './fake-responder.js';
