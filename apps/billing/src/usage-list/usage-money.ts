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

/** Of what costs nothing but hosting. */
export const hostingCentsOf = (
  sums: Pick<MoneySums, 'hosting'>,
): Pick<UsageFigures, 'hostingCents' | 'totalCents'> => {
  const cents = showCents(BigInt(sums.hosting));
  return { hostingCents: cents, totalCents: cents };
};
