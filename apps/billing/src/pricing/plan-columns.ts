import type { Plan } from './pricing.js';

/** A plan as columns of a table: whole numbers, which arrive as text. */
export interface PlanColumns {
  readonly plan_id: string;
  readonly hosting: string;
  readonly vcpu_hour: string | null;
  readonly mem_gb_hour: string | null;
  readonly disk_gb_month: string | null;
  readonly month_price: string | null;
}

export const PLAN_COLUMNS = 'plan_id, hosting, vcpu_hour, mem_gb_hour, disk_gb_month, month_price';

export const planColumns = ({ id, hosting }: Plan): PlanColumns =>
  hosting.kind === 'seat'
    ? {
        ...{ plan_id: id, hosting: 'seat', month_price: String(hosting.pricePerMonth) },
        ...{ vcpu_hour: null, mem_gb_hour: null, disk_gb_month: null },
      }
    : {
        plan_id: id,
        hosting: 'metered',
        vcpu_hour: String(hosting.vcpuHour),
        mem_gb_hour: String(hosting.memGbHour),
        disk_gb_month: String(hosting.diskGbMonth),
        month_price: null,
      };

export const planFrom = (row: PlanColumns): Plan => ({
  id: row.plan_id,
  hosting:
    row.hosting === 'seat'
      ? { kind: 'seat', pricePerMonth: BigInt(row.month_price ?? 0) }
      : {
          kind: 'metered',
          vcpuHour: BigInt(row.vcpu_hour ?? 0),
          memGbHour: BigInt(row.mem_gb_hour ?? 0),
          diskGbMonth: BigInt(row.disk_gb_month ?? 0),
        },
});
