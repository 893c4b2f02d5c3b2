import type { BoxSpec } from './box-spec.js';
import { DriverError } from './driver-error.js';
import type { DriverCapabilities } from './driver.js';

/**
 * Rejects a spec that the driver cannot honour. Limits that it does not enforce are exempt, because they are advisory
 * (`DriverCapabilities.limits`). Errors: `spec_unsupported`.
 */
export const refuseUnsupported = (spec: BoxSpec, capabilities: DriverCapabilities): void => {
  refuseSource(spec.source, capabilities);
  if (!capabilities.users.includes(spec.user))
    throw new DriverError('spec_unsupported', `This host cannot run agents as ${spec.user}.`);
  if (!hasNetwork(spec.network, capabilities))
    throw new DriverError(
      'spec_unsupported',
      `This host cannot give an agent the network "${spec.network}".`,
    );
};

/** Errors: `spec_unsupported`. */
export const refuseSource = ({ kind }: BoxSpec['source'], { sources }: DriverCapabilities): void => {
  if (!sources.includes(kind))
    throw new DriverError('spec_unsupported', `This host cannot run agents from ${kind} sources.`);
};

/** The network of a box that asks for nothing less than the host offers. */
export const widestNetwork = (capabilities: DriverCapabilities): BoxSpec['network'] =>
  hasNetwork('public', capabilities) ? 'public' : 'none';

/** The network of a box whose template narrows it, or does not. Boxes that share the host's network keep it. */
export const networkOf = (narrowed: 'none' | null, capabilities: DriverCapabilities): BoxSpec['network'] =>
  narrowed !== null && hasNetwork(narrowed, capabilities) ? narrowed : widestNetwork(capabilities);

/** The host's network includes the public one. */
const hasNetwork = (wanted: BoxSpec['network'], { network }: DriverCapabilities): boolean =>
  network === 'host' ? wanted === 'public' : network.includes(wanted);
