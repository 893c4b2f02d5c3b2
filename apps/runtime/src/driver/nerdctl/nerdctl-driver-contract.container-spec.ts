import { describeDriverContract } from '../driver-contract/driver.contract.js';
import { nerdctlDriverUnderTest } from './__fixtures__/nerdctl-driver.fixture.js';

describeDriverContract('nerdctl driver', nerdctlDriverUnderTest);
