import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeBoxes } from './boxes.contract.js';
import { DriverFixture, type DriverUnderTest } from './driver.fixture.js';
import { describeLimits } from './limits.contract.js';
import { describeProcesses } from './processes.contract.js';
import { describeRestarts } from './restarts.contract.js';
import { describeTasks } from './tasks.contract.js';

export const CONTRACT_PARTS = ['boxes', 'processes', 'restarts', 'limits', 'tasks'] as const;
export type ContractPart = (typeof CONTRACT_PARTS)[number];

/**
 * Registers the guarantees of the port `Driver` as tests, with real boxes and the real guest. An optional feature must work
 * if `Driver.capabilities` offers it, and must be refused otherwise.
 */
export const describeDriverContract = (
  name: string,
  underTest: DriverUnderTest,
  parts: readonly ContractPart[] = CONTRACT_PARTS,
): void => {
  describe(`a box of the ${name}`, () => {
    let host: DriverFixture;

    beforeEach(async () => {
      host = await DriverFixture.open(underTest);
    });

    afterEach(() => host.destroy());

    const describePart: Readonly<Record<ContractPart, () => void>> = {
      boxes: () => describeBoxes(() => host, underTest.codeFile),
      processes: () => describeProcesses(() => host),
      restarts: () =>
        describeRestarts(
          () => host,
          () => DriverFixture.open(underTest),
        ),
      limits: () => describeLimits(() => host, underTest.offers),
      tasks: () => describeTasks(() => host, underTest.offers),
    };
    for (const part of parts) describePart[part]();

    it('offers exactly the optional features that are tested here', () => {
      const { isolation, tasks, limits } = host.driver.capabilities;
      expect({ isolation, tasks, limitsDisk: limits.includes('diskBytes') }).toEqual(underTest.offers);
    });
  });
};
