"""What pandas had before version 3: methods, arguments, `ix`, text as objects, columns that write to their frame."""

from __future__ import annotations

import functools
import re
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from parallel_compat.packages.arguments import accept, around, called_by_user, default, member
from parallel_compat.packages.notes import note

# Parameters that were passed by position, and are by name alone since pandas 2.
_ORDER: dict[str, tuple[str, ...]] = {
    "drop": ("labels", "axis", "index", "columns", "level", "inplace", "errors"),
    "drop_duplicates": ("subset", "keep", "inplace"),
    "dropna": ("axis", "how", "thresh", "subset", "inplace"),
    "reset_index": ("level", "drop", "inplace", "col_level", "col_fill"),
    "set_index": ("keys", "drop", "append", "inplace", "verify_integrity"),
    "sort_index": ("axis", "level", "ascending", "inplace"),
    "sort_values": ("by", "axis", "ascending", "inplace"),
    "to_csv": ("path_or_buf", "sep", "na_rep", "float_format", "columns", "header", "index"),
    "fillna": ("value", "method", "axis", "inplace", "limit"),
    "replace": ("to_replace", "value", "inplace", "limit", "regex", "method"),
    **dict.fromkeys(("any", "all"), ("axis", "bool_only", "skipna")),
    **dict.fromkeys(("sum", "mean", "max", "min", "median", "std", "var", "prod"), ("axis", "skipna")),
}
# What wrote into a column also wrote into its frame.
_IN_PLACE = ("fillna", "replace", "clip", "interpolate", "where", "mask", "ffill", "bfill")
_FREQUENCIES = {"H": "h", "T": "min", "S": "s", "L": "ms", "M": "ME", "Q": "QE", "A": "YE", "Y": "YE", "BM": "BME"}


def _change(module: Any) -> None:
    frames = (module.DataFrame, module.Series)
    _members(module, frames)
    for owner in frames:
        for name, order in _ORDER.items():
            if name == "fillna":
                continue
            places = order[1:] if owner is module.Series and name == "sort_values" else order
            accept(owner, name, order=places)
        if "method" not in owner.fillna.__code__.co_varnames:
            around(owner, "fillna", _fill)
        accept(owner, "to_csv", line_terminator="lineterminator", tupleize_cols=None)
        accept(owner, "groupby", squeeze=None)
        for name in ("mean", "median", "std", "var", "sem", "skew", "kurt", "corr", "cov", "quantile"):
            if hasattr(owner, name):
                around(owner, name, functools.partial(_numbers_only, f"{owner.__name__}.{name}"))
        for name in ("resample", "asfreq"):
            around(owner, name, functools.partial(_frequency, f"{owner.__name__}.{name}"))
    objects = _keep_text_as_objects(module)
    _readers(module, objects)
    accept(module, "concat", order=("objs", "axis", "join"), join_axes=_join_axes)
    for name in ("factorize", "unique"):
        around(module, name, functools.partial(_take_lists, module))
    accept(module, "factorize", na_sentinel=lambda options, value: options.update(use_na_sentinel=value == -1))
    around(module, "set_option", functools.partial(_set_option, module))
    around(module, "date_range", functools.partial(_frequency, "pandas.date_range"))
    default(module, "get_dummies", dtype="uint8")  # until pandas 1
    _write_through(module)


def _members(module: Any, frames: tuple[Any, Any]) -> None:
    concat = module.concat

    def append(
        self: Any, other: Any, ignore_index: bool = False, verify_integrity: bool = False, sort: Any = None
    ) -> Any:
        if isinstance(other, dict):
            other = module.Series(other)
        if self.ndim == 2 and isinstance(other, module.Series):
            if other.name is None and not ignore_index:
                raise TypeError("Can only append a Series if ignore_index=True or if the Series has a name")
            other = other.to_frame().T.infer_objects()
        others = list(other) if isinstance(other, list | tuple) else [other]
        if others and all(isinstance(each, dict) for each in others):
            others = [module.DataFrame(others)]
        if self.ndim == 2 and not len(self.columns):
            return concat(others, ignore_index=ignore_index)
        options = {} if self.ndim == 1 else {"sort": bool(sort)}
        return concat([self, *others], ignore_index=ignore_index, verify_integrity=verify_integrity, **options)

    def get_value(self: Any, index: Any, col: Any = None, takeable: bool = False) -> Any:
        if self.ndim == 1:
            return self.iat[index] if takeable else self.at[index]
        return self.iat[index, col] if takeable else self.at[index, col]

    def set_value(self: Any, index: Any, col: Any, value: Any = None, takeable: bool = False) -> Any:
        if self.ndim == 1:
            self.at[index] = col
        elif takeable:
            self.iat[index, col] = value
        else:
            self.at[index, col] = value
        return self

    member(
        frames,
        append=append,
        as_matrix=lambda self, columns=None: (self if columns is None else self[columns]).to_numpy(),
        get_values=lambda self: self.to_numpy(),
        iteritems=lambda self: self.items(),
        ix=property(_Ix),
        get_value=get_value,
        set_value=set_value,
        clip_lower=lambda self, threshold: self.clip(lower=threshold),
        clip_upper=lambda self, threshold: self.clip(upper=threshold),
        mad=lambda self, axis=0: (self - self.mean()).abs().mean() if axis in (0, None) else self.T.mad(),
    )
    member(
        frames,
        get_dtype_counts=lambda self: (self.to_frame() if self.ndim == 1 else self).dtypes.value_counts(),
        is_copy=property(lambda self: None),
        reindex_axis=lambda self, labels, axis=0, **options: self.reindex(labels, axis=axis, **options),
        swapaxes=lambda self, axis1, axis2: self.copy() if axis1 == axis2 else self.T,
        to_dense=lambda self: self,
        convert_objects=_convert_objects,
    )
    member(frames[:1], applymap=lambda self, func: self.map(func), lookup=_lookup)
    for kind in (module.DataFrame, module.Series):
        if not hasattr(kind, "from_csv"):
            kind.from_csv = staticmethod(functools.partial(_from_csv, module, kind))
    if not hasattr(module.DataFrame, "from_items"):
        module.DataFrame.from_items = staticmethod(functools.partial(_from_items, module))
    _members_of_columns(module)


def _members_of_columns(module: Any) -> None:
    member(
        [module.Series],
        ravel=lambda self, order="C": self.to_numpy().ravel(order),
        ptp=lambda self: self.max() - self.min(),
        nonzero=lambda self: self.to_numpy().nonzero(),
        valid=lambda self: self.dropna(),
        view=lambda self, dtype=None: module.Series(self.to_numpy().view(dtype), index=self.index, name=self.name),
        real=property(lambda self: self.to_numpy().real),
        imag=property(lambda self: self.to_numpy().imag),
        itemsize=property(lambda self: self.dtype.itemsize),
    )
    member(
        [module.Index],
        contains=lambda self, key: key in self,
        get_duplicates=lambda self: self[self.duplicated()].unique(),
        get_values=lambda self: self.to_numpy(),
        is_integer=lambda self: self.dtype.kind in "iu",
        is_numeric=lambda self: self.dtype.kind in "iuf",
    )
    member([module.Index, module.Series], is_monotonic=property(lambda self: self.is_monotonic_increasing))
    day_name = property(lambda self: self.day_name())
    days = module.to_datetime([0])
    _grouping(module)
    text = type(module.Series(["a"], dtype=object).str)
    around(text, "replace", _replace)
    week = property(lambda self: self.isocalendar().week.astype(np.int64))
    weeks = property(lambda self: module.Index(self.isocalendar().week.astype(np.int64).to_numpy()))
    member([module.DatetimeIndex], weekday_name=day_name, week=weeks, weekofyear=weeks)
    member([type(module.Series(days).dt)], weekday_name=day_name, week=week, weekofyear=week)
    member([module.Timestamp], weekday_name=day_name, freq=property(lambda self: None))


def _convert_objects(self: Any, convert_dates: Any = True, convert_numeric: bool = False, **options: Any) -> Any:
    if self.ndim == 2:
        return self.apply(lambda column: _convert_objects(column, convert_dates, convert_numeric))
    if self.dtype != object:
        return self
    import pandas

    numbers = pandas.to_numeric(self, errors="coerce") if convert_numeric else self
    return self.infer_objects() if not convert_numeric or numbers.isna().all() else numbers


def _from_csv(
    module: Any, kind: Any, path: Any, header: Any = 0, sep: str = ",", index_col: Any = 0, **options: Any
) -> Any:
    read = module.read_csv(path, header=header, sep=sep, index_col=index_col, **{"parse_dates": True, **options})
    return read if kind is module.DataFrame else read.iloc[:, 0]


def _from_items(module: Any, items: Any, columns: Any = None, orient: str = "columns") -> Any:
    pairs = list(items)
    if orient == "columns":
        return module.DataFrame(dict(pairs), columns=[key for key, _ in pairs] if columns is None else columns)
    return module.DataFrame([values for _, values in pairs], index=[key for key, _ in pairs], columns=columns)


def _replace(
    original: Any, self: Any, pat: Any, repl: Any = None, n: int = -1, case: Any = None, flags: int = 0, **options: Any
) -> Any:
    """Take a pattern of more than one character for a regular expression, as before pandas 2."""
    if "regex" not in options and isinstance(pat, str) and called_by_user():
        options["regex"] = len(pat) > 1 or case is not None or flags != 0 or callable(repl)
        if options["regex"] and re.escape(pat) != pat:
            note("Series.str.replace", "its pattern is a regular expression, as before pandas 2")
    return original(self, pat, repl, n=n, case=case, flags=flags, **options)


def _numbers_only(where: str, original: Any, self: Any, *args: Any, **options: Any) -> Any:
    """Leave out columns of text, as before pandas 2."""
    try:
        return original(self, *args, **options)
    except (TypeError, ValueError):
        if self.ndim == 1 or options.get("numeric_only") is not None or not called_by_user():
            raise
        found = original(self, *args, **{**options, "numeric_only": True})
        note(where, "columns that are no numbers are left out, as before pandas 2")
        return found


def _grouping(module: Any) -> None:
    """Let groups leave out columns of text, and name what they compute by a dict, as before pandas 1 and 2."""
    groups = module.DataFrame({"a": [0], "b": [0]}).groupby("a")
    frames, columns = type(groups), type(groups["b"])
    for name in ("mean", "median", "std", "var", "sem"):
        around(frames, name, functools.partial(_numbers_only, f"{frames.__name__}.{name}"))
    of_column, of_frame = columns.aggregate, frames.aggregate

    def aggregate_column(self: Any, func: Any = None, *args: Any, **options: Any) -> Any:
        if not isinstance(func, dict):
            return of_column(self, func, *args, **options)
        note("SeriesGroupBy.agg({name: function})", "as pandas 0.25 did it")
        return module.DataFrame({name: of_column(self, each, *args, **options) for name, each in func.items()})

    def aggregate_frame(self: Any, func: Any = None, *args: Any, **options: Any) -> Any:
        if not isinstance(func, dict) or not any(isinstance(each, dict) for each in func.values()):
            return of_frame(self, func, *args, **options)
        note("DataFrameGroupBy.agg({column: {name: function}})", "as pandas 0.25 did it")
        named = {key: each if isinstance(each, dict) else {key: each} for key, each in func.items()}
        return module.concat({key: aggregate_column(self[key], each) for key, each in named.items()}, axis=1)

    for owner, function in ((columns, aggregate_column), (frames, aggregate_frame)):
        owner.agg = owner.aggregate = functools.wraps(owner.aggregate)(function)


def _take_lists(module: Any, original: Any, values: Any, *args: Any, **options: Any) -> Any:
    if isinstance(values, list | tuple):
        note(f"pandas.{original.__name__}", "of a list, too, as before pandas 3")
        values = module.Series(values).to_numpy()
    return original(values, *args, **options)


def _set_option(module: Any, original: Any, *args: Any, **options: Any) -> None:
    """Let options of the display be named without it, and a width of -1 be none."""
    pairs = list(args)
    for place in range(0, len(pairs) - 1, 2):
        name, value = pairs[place : place + 2]
        if hasattr(module.options.display, str(name)):
            pairs[place] = f"display.{name}"
        if str(name).endswith("max_colwidth") and value == -1:
            pairs[place + 1] = None
    if pairs != list(args):
        note(f"pandas.set_option{args}", f"it is set_option{tuple(pairs)} today")
    original(*pairs, **options)


def _lookup(self: Any, row_labels: Any, col_labels: Any) -> Any:
    return np.array([self.at[place] for place in zip(row_labels, col_labels, strict=True)])


class _Ix:
    """`ix`: by labels; integers are positions if the labels are not integers."""

    def __init__(self, of: Any) -> None:
        self.of = of

    def __getitem__(self, key: Any) -> Any:
        return self.of.iloc[self._positions(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        parts = key if isinstance(key, tuple) else (key,)
        labels = [part for part, axis in zip(parts, self.of.axes, strict=False) if _is_new_label(part, axis)]
        if labels:
            self.of.loc[key] = value
        else:
            self.of.iloc[self._positions(key)] = value

    def _positions(self, key: Any) -> Any:
        if isinstance(key, tuple):
            return tuple(_position(part, axis) for part, axis in zip(key, self.of.axes, strict=False))
        return _position(key, self.of.axes[0])


def _position(key: Any, axis: Any) -> Any:
    """Return the positions of a key on an axis."""
    by_number = not (axis.dtype.kind in "iuf" or axis.nlevels > 1)
    if isinstance(key, slice):
        ends = [end for end in (key.start, key.stop) if end is not None]
        if all(isinstance(end, int | np.integer) for end in ends) and by_number:
            return key
        return axis.slice_indexer(key.start, key.stop, key.step)
    if hasattr(key, "dtype") and key.dtype == bool:
        return np.flatnonzero(np.asarray(key))
    if isinstance(key, list | tuple | np.ndarray) or hasattr(key, "to_numpy"):
        keys = list(key)
        if keys and all(isinstance(each, bool | np.bool_) for each in keys):
            return np.flatnonzero(keys)
        if by_number and all(isinstance(each, int | np.integer) for each in keys):
            return keys
        places = axis.get_indexer_for(keys)
        if (places < 0).any():
            raise KeyError(f"{[each for each, at in zip(keys, places, strict=False) if at < 0]} not in index")
        return places
    if isinstance(key, int | np.integer) and not isinstance(key, bool) and by_number:
        return key
    found = axis.get_loc(key)
    return np.flatnonzero(found) if isinstance(found, np.ndarray) else found


def _is_new_label(key: Any, axis: Any) -> bool:
    return (
        isinstance(key, str | int | np.integer)
        and axis.dtype.kind not in "b"
        and key not in axis
        and (isinstance(key, str) or axis.dtype.kind in "iuf")
    )


def _fill(
    original: Any, self: Any, value: Any = None, method: Any = None, axis: Any = None, inplace: bool = False,
    limit: Any = None, downcast: Any = None,
) -> Any:  # fmt: skip
    if method is None:
        return original(self, value, axis=axis, inplace=inplace, limit=limit)
    note(f"{'Series' if self.ndim == 1 else 'DataFrame'}.fillna(method={method!r})", "it is ffill and bfill today")
    fill = self.ffill if method in ("ffill", "pad") else self.bfill
    return fill(axis=axis, inplace=inplace, limit=limit)


def _readers(module: Any, text_as_objects: bool) -> None:
    def bad_lines(options: dict[str, Any], value: Any) -> None:
        if not value:
            options["on_bad_lines"] = "warn" if options.get("on_bad_lines") != "skip" else "skip"

    def no_warning(options: dict[str, Any], value: Any) -> None:
        if not value and options.get("on_bad_lines") == "warn":
            options["on_bad_lines"] = "skip"

    def white_space(options: dict[str, Any], value: Any) -> None:
        if value:
            options["sep"] = r"\s+"

    order = ("filepath_or_buffer", "sep", "delimiter", "header", "names", "index_col", "usecols")
    gone: dict[str, Any] = {"error_bad_lines": bad_lines, "warn_bad_lines": no_warning, "delim_whitespace": white_space}
    accept(module, "read_csv", order=order, **gone)
    accept(module, "read_table", order=order, **gone)
    accept(module, "read_excel", order=("io", "sheet_name", "header"))
    for name in ("read_csv", "read_table", "read_excel"):
        around(module, name, functools.partial(_after_reading, module, text_as_objects))


def _after_reading(module: Any, text_as_objects: bool, original: Any, *args: Any, **options: Any) -> Any:
    """Apply `squeeze`, `prefix` and `date_parser` after reading; note what its text is."""
    if _joins_dates(options.get("parse_dates")):
        return _read_with_dates(module, getattr(module, original.__name__), args, options)
    old = {key: options.pop(key) for key in ("squeeze", "prefix", "date_parser") if key in options}
    parser = old.get("date_parser")
    columns = options.pop("parse_dates", None) if parser is not None else None
    index = options.pop("index_col", None) if parser is not None and columns else None
    read = original(*args, **options)
    if text_as_objects and called_by_user() and "O" in {each.kind for each in getattr(read, "dtypes", ())}:
        note("pandas: columns of text", "their type is object")
    for key in old:
        note(f"pandas.{original.__name__}({key}=)", "as pandas 1 did it")
    for each in columns if isinstance(columns, list) else []:
        column = read.columns[each] if isinstance(each, int) else each
        read[column] = [parser(text) for text in read[column]]  # type: ignore[misc]
    if index is not None:
        read = read.set_index(read.columns[index] if isinstance(index, int) else index)
    if old.get("prefix") is not None and options.get("header", 0) is None:
        read.columns = [f"{old['prefix']}{number}" for number in range(len(read.columns))]
    return read.iloc[:, 0] if old.get("squeeze") and read.shape[1] == 1 else read


def _joins_dates(parse_dates: Any) -> bool:
    lists = parse_dates if isinstance(parse_dates, list) else []
    return isinstance(parse_dates, dict) or any(isinstance(each, list) for each in lists)


def _read_with_dates(module: Any, reads: Any, args: Any, options: dict[str, Any]) -> Any:
    """Read dates that stand in several columns: `parse_dates=[[...]]` or `{name: [...]}`, as before pandas 3."""
    note("pandas.read_csv(parse_dates=)", "dates of several columns, as pandas 2 read them")
    wanted, parser = options.pop("parse_dates"), options.pop("date_parser", None)
    index, keep = options.pop("index_col", None), options.pop("keep_date_col", False)
    names = wanted if isinstance(wanted, dict) else dict(enumerate(wanted))
    read = reads(*args, **options)
    joined = {}
    for name, columns in names.items():
        columns = columns if isinstance(columns, list) else [columns]
        columns = [read.columns[each] if isinstance(each, int) else each for each in columns]
        name = name if isinstance(wanted, dict) else "_".join(map(str, columns))
        joined[name] = _dates(module, [read[each].astype(str) for each in columns], parser)
        read = read if keep else read.drop(columns=columns)
    read = module.concat([module.DataFrame(joined, index=read.index), read], axis=1)
    if index is None or index is False:
        return read
    index = index if isinstance(index, list) else [index]
    index = [read.columns[each] if isinstance(each, int) else each for each in index]
    return read.set_index(index[0] if len(index) == 1 else index)


def _dates(module: Any, columns: list[Any], parser: Any) -> Any:
    texts = columns[0].str.cat(columns[1:], sep=" ") if columns[1:] else columns[0]
    if parser is None:
        return module.to_datetime(texts, format="mixed")
    try:
        return module.to_datetime(parser(*[column.to_numpy() for column in columns]))
    except Exception:
        return module.to_datetime([parser(text) for text in texts])


def _join_axes(options: dict[str, Any], value: Any) -> None:
    raise TypeError("pandas 1 dropped concat(join_axes=): write pd.concat(objs, axis=1).reindex(index)")


def _frequency(where: str, original: Any, *args: Any, **options: Any) -> Any:
    """Accept the old names of frequencies; `date_range` has its other arguments by position."""

    def today(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        number = value.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        new = _FREQUENCIES.get(value[len(number) :])
        if new is None:
            return value
        note(f"{where}({value!r})", f"it is {number}{new} today")
        return number + new

    options = {key: today(value) if key in ("freq", "rule") else value for key, value in options.items()}
    return original(*args if where == "pandas.date_range" else map(today, args), **options)


def _keep_text_as_objects(module: Any) -> bool:
    """Read text as objects, as code that asks for `object` expects; return whether this pandas has a type for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas 3 says that the option is to go
        try:
            if module.get_option("future.infer_string"):
                module.set_option("future.infer_string", False)
                return True
        except KeyError:  # pandas.errors.OptionError: a pandas without it
            pass
    return False


def _write_through(module: Any) -> None:
    """Let `frame[column][rows] = value` and `frame[column].fillna(0, inplace=True)` change the frame.

    Since pandas 3 a column is a copy as soon as it is written to.
    """
    if int(module.__version__.partition(".")[0]) < 3:
        return
    by_id: dict[int, tuple[Any, Any, str]] = {}
    frame, series = module.DataFrame, module.Series
    get = frame.__getitem__

    def reads(read: Any, self: Any, key: Any) -> Any:
        found = read(self, key)
        if isinstance(key, str) and isinstance(found, series) and called_by_user():
            number = id(found)
            gone = weakref.ref(found, lambda _: by_id.pop(number, None))
            by_id[number] = (gone, weakref.ref(self), key)
        return found

    def through(column: Any, write: Callable[[], Any]) -> Any:
        entry = by_id.get(id(column))
        owner = entry[1]() if entry is not None else None
        if entry is None or owner is None or entry[2] not in owner.columns:
            return write()
        shared = np.shares_memory(np.asarray(column), np.asarray(get(owner, entry[2])))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", getattr(module.errors, "ChainedAssignmentError", Warning))
            result = write()
        if shared:
            owner[entry[2]] = column
            note("DataFrame[column][rows] = value", "the frame is changed, as before pandas 3")
        return result

    def writes(original: Any, self: Any, *args: Any, **options: Any) -> Any:
        column = self if isinstance(self, series) else self.obj
        is_written = original.__name__ == "__setitem__" or options.get("inplace")
        if not is_written or id(column) not in by_id:
            return original(self, *args, **options)
        return through(column, lambda: original(self, *args, **options))

    for name in ("__getitem__", "__getattr__"):  # `frame.column`, too
        around(frame, name, reads)
    for name in ("__setitem__", *_IN_PLACE):
        around(series, name, writes)
    for kind in {type(series([0]).loc), type(series([0]).iloc), type(series([0]).at), type(series([0]).iat)}:
        around(kind, "__setitem__", writes)


CHANGES: dict[str, Callable[[Any], None]] = {"pandas": _change}
