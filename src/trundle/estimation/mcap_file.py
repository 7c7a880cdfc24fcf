"""Logs in MCAP, the format of ROS 2's bags (https://mcap.dev/spec): messages of ROS 2 and in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from trundle.errors import counted, warn
from trundle.estimation.message_logs import MessageLog, Topic
from trundle.extras import load

MAGIC = b"\x89MCAP0\r\n"


def read_mcap(file: Path, wanted: Callable[[str], bool]) -> MessageLog:
    """The messages of topics that are `wanted`, and the first of every other.

    A damaged file is read as far as it is whole, with a warning. InputError without the library that reads it.
    """
    needed = ".mcap files are read by mcap-ros2-support"
    decoder, records, reader = (
        load(module, needed, extra="logs", distribution="mcap-ros2-support", key="log")
        for module in ("mcap_ros2.decoder", "mcap.records", "mcap.stream_reader")
    )
    ros2 = decoder.DecoderFactory()

    def decoded(encoding: str, schema: object, raw: bytes) -> object:
        if encoding == "json":
            return json.loads(raw)
        read = ros2.decoder_for(encoding, schema)
        if read is None:
            raise ValueError(
                f"it is in {encoding}; CDR by ros2msg schemas, as ROS 2 writes it, and JSON are read"
            )
        return read(raw)

    schemas, topics, channels, count = {0: None}, dict[str, Topic](), dict[int, Topic](), 0
    try:
        with file.open("rb") as stream:
            for record in reader.StreamReader(stream, record_size_limit=file.stat().st_size).records:
                if isinstance(record, records.Schema):
                    schemas[record.id] = record
                elif isinstance(record, records.Channel):
                    schema, encoding = schemas[record.schema_id], record.message_encoding
                    kind = encoding if schema is None else schema.name
                    topic = Topic(
                        record.topic, kind, wanted(record.topic), partial(decoded, encoding, schema)
                    )
                    channels[record.id] = topics.setdefault(record.topic, topic)
                elif isinstance(record, records.Message):
                    channels[record.channel_id].add(record.log_time, record.data)
                    count += 1
    except Exception as error:  # the reader and every way of compression have errors of their own
        said = f": {error}" if str(error) else ""
        warn(f"'{file}' isn't whole{said}. What stands before was read, {counted(count, 'message')}.")
    return MessageLog(topics, holds=False)
