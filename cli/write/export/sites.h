// cli/write/export/sites.h: the profile as a table for databases: a line of JSON (NDJSON) for each site, device and
// metric, which DuckDB, ClickHouse, Spark and pandas read as it is.
//
// Without choices all devices and all metrics that the profile has. man/heapprof-format.5 has the columns.
//
// Guarantees
//  - Every line has every column, in one order and of one type; what is not known is null. So the first lines tell a
//    reader the whole schema.
//  - A site has a line for a metric unless it has nothing of it; the values of a device and a metric add up to the
//    device's number.
//  - Numbers are exact, as integers: none is rounded to a double.
//  - Valid JSON in valid UTF-8; no line break inside of a line.
// Not provided: threads. What each thread allocated is known in all, not by site.
#pragma once

#include "cli/write/export/formats.h"

namespace heapprof::cli {

void write_sites(const Profile& profile, const ExportView& view, ByteSink* sink);

}  // namespace heapprof::cli
