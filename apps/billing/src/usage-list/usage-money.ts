import type { UsageFigures } from '@berth/contracts/billing';
import { showCents, type Millionths } from '@berth/kernel';

/** Sums in millionths of a cent, as the database returns them. */
export interface MoneySums {
  readonly hosting: string;
  readonly ai: string;
}

export const centsOf = (sums: MoneySums): Pick<UsageFigures, 'hostingCents' | 'aiCents' | 'totalCents'> => {
  const [hosting, ai]: readonly [Millionths, Millionths] = [BigInt(sums.hosting), BigInt(sums.ai)];
  return {
    hostingCents: showCents(hosting),
    aiCents: showCents(ai),
    totalCents: showCents(hosting + ai),
  };
};
