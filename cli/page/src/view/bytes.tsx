// cli/page/src/view/bytes.tsx: a number of bytes; all its digits are shown while the pointer is over it.
import * as units from "../model/units";

export function Bytes({ value }: { value: number }) {
  return <span title={units.bytesExact(value)}>{units.bytes(value)}</span>;
}
