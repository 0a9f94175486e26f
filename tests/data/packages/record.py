"""What packages of 2018 computed: run by a Python 3.7 with SciPy 1.1, scikit-image 0.14, pandas 0.23, Pillow 5,
numpy 1.16, scikit-learn 0.20, matplotlib 3.0, networkx 2.2 and OpenCV 3.4, it writes FILE.npz; under `run`, what is answered.

    python record.py FILE.npz [PACKAGE]

Each function is a case; its name begins with the package that it needs.
"""
from __future__ import annotations

import io
import os
import sys
import tempfile
import warnings

import numpy as np

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def picture(*shape):
    return np.random.RandomState(sum(shape)).randint(0, 256, shape).astype(np.uint8)


def floats(*shape):
    return np.random.RandomState(sum(shape)).uniform(-1, 2, shape)


@case
def scipy_bytescale():
    from scipy.misc import bytescale

    return [bytescale(floats(5, 6)), bytescale(floats(5, 6).astype("float32"), low=10, high=200),
            bytescale(np.arange(12).reshape(3, 4) - 5, cmin=0, cmax=3), bytescale(np.zeros((2, 2)))]


@case
def scipy_toimage():
    from scipy.misc import fromimage, toimage

    made = [toimage(floats(5, 6)), toimage(floats(3, 5, 6)), toimage(floats(5, 4, 6), channel_axis=1),
            toimage(floats(5, 6), mode="F"), toimage(floats(5, 6), mode="I"), toimage(picture(5, 6), mode="P"),
            toimage(floats(5, 6), cmin=0, cmax=1), toimage(picture(5, 6, 3), mode="YCbCr")]
    return [fromimage(each) for each in made] + [fromimage(made[1], flatten=True), fromimage(made[1], mode="L")]


@case
def scipy_imresize():
    import scipy.misc

    a, rgb = floats(9, 12), picture(8, 10, 3)
    return [scipy.misc.imresize(a, (4, 5)), scipy.misc.imresize(rgb, 50), scipy.misc.imresize(rgb, 1.7),
            scipy.misc.imresize(rgb, (16, 5, 3), interp="bicubic"), scipy.misc.imresize(rgb, (3, 3), "nearest"),
            scipy.misc.imresize(rgb, (5, 6), "lanczos"), scipy.misc.imresize(a, (4, 5), mode="F"),
            scipy.misc.imresize(rgb, (12, 12), "cubic")]


@case
def scipy_imrotate():
    from scipy.misc import imrotate

    rgb = picture(8, 10, 3)
    return [imrotate(rgb, 90), imrotate(rgb, 30), imrotate(floats(9, 9), 45, "nearest"), imrotate(rgb, 12, "bicubic")]


@case
def scipy_imread_and_imsave():
    import scipy.misc
    from scipy import ndimage

    name = os.path.join(tempfile.mkdtemp(), "a.png")
    scipy.misc.imsave(name, floats(5, 6, 3))
    found = [scipy.misc.imread(name), scipy.misc.imread(name, flatten=True), scipy.misc.imread(name, mode="L"),
             ndimage.imread(name, mode="RGB")]
    scipy.misc.imsave(name, floats(5, 6))
    return found + [scipy.misc.imread(name)]


@case
def scipy_imfilter():
    from scipy.misc import imfilter

    return [imfilter(picture(8, 10, 3), name) for name in ("blur", "find_edges", "sharpen", "smooth_more")]


@case
def scipy_numbers():
    from scipy.misc import central_diff_weights, comb, derivative, factorial, logsumexp

    return [logsumexp(floats(4, 5), axis=1), comb(10, 3), factorial(5), central_diff_weights(5),
            derivative(np.sin, 0.3, dx=1e-3), derivative(np.exp, 1.0, dx=1e-2, n=2, order=5)]


@case
def scipy_signal():
    import scipy.signal as s

    found = [s.hann(7), s.hanning(8), s.hamming(9), s.gaussian(7, 2), s.blackman(6), s.kaiser(7, 3), s.tukey(9)]
    return found + [s.ricker(20, 3.0), s.cwt(floats(30), s.ricker, np.arange(1, 4))]


@case
def scipy_integrate():
    from scipy.integrate import cumtrapz, simps, trapz

    x = np.sort(floats(10))
    return [simps(floats(9)), simps(floats(10)), simps(floats(10), x), simps(floats(3, 10), x, even="first"),
            simps(floats(10, 3), dx=0.5, axis=0, even="last"), cumtrapz(floats(10), x), trapz(floats(10))]


@case
def scipy_borders():
    from scipy import ndimage

    a, angle = floats(6, 5), np.array([[0.9, -0.4], [0.4, 0.9]])
    places = np.random.RandomState(0).uniform(-9, 13, (2, 12))
    found = [ndimage.interpolation.affine_transform(a, angle, (-1, 2.5), order=1, mode="reflect")]
    for mode in ("reflect", "nearest", "mirror"):
        for order in (0, 1, 3):
            found += [ndimage.map_coordinates(a, places, order=order, mode=mode), ndimage.zoom(a, 1.5, None, order, mode),
                      ndimage.affine_transform(a, angle, [2, -3], (4, 7), order=order, mode=mode),
                      ndimage.shift(a, (1.3, -7), None, order, mode), ndimage.rotate(a, 33, order=order, mode=mode)]
    return found


@case
def scipy_of_numpy():
    import scipy

    return [scipy.array([1, 2]), scipy.interp(0.5, [0, 1], [2, 4]), scipy.mean([1, 2, 4]), scipy.sqrt(2.0)]


@case
def scipy_stats():
    from scipy import stats

    return [stats.itemfreq([3, 1, 3, 2]), stats.binom_test(3, 10, 0.4), stats.binom_test([4, 9])]


@case
def scipy_of_before():
    """Names, arguments and shapes that went between SciPy 1.4 and 1.16."""
    import scipy
    from scipy import fft, linalg, signal, stats
    from scipy.integrate import quadrature, romberg
    from scipy.sparse.linalg import cg
    from scipy.special import sph_harm

    a, s = picture(6, 5) % 4, floats(4, 4) + floats(4, 4).T
    modes = [stats.mode(a), stats.mode(a, axis=1), stats.mode(a, axis=None), stats.mode(["b", "a", "b"])]
    found = [part for mode in modes for part in mode] + [fft(floats(7)), scipy.ifft(floats(7)), scipy.Inf, scipy.product([2, 3])]
    found += [romberg(np.exp, 0, 1), quadrature(np.exp, 0, 1)[0], sph_harm(1, 2, 0.1, 0.2), signal.morlet(9)]
    found += [signal.firwin(5, 10, nyq=50), linalg.eigh(s, eigvals=(1, 2))[0], linalg.pinv(floats(3, 4), cond=1e-6)]
    return found + [linalg.solve(s.dot(s.T), np.ones(4), sym_pos=True), cg(s.dot(s.T), np.ones(4), tol=1e-12)[0]]


@case
def scipy_interp2d():
    from scipy.interpolate import interp2d

    x, y, z = np.arange(5.0), np.arange(6.0), floats(6, 5)
    found = []
    for kind in ("linear", "cubic", "quintic"):
        f = interp2d(x, y, z, kind=kind) if kind != "quintic" else interp2d(np.arange(7), np.arange(8), floats(8, 7), kind)
        found += [f(1.5, 2.5), f([4.7, 0.3], [0.2, 3.9, 5]), f([2, 3, 9], -1)]
    grid = interp2d(*np.meshgrid(x[::-1], y), z.ravel())
    return found + [interp2d(x, y, z, fill_value=0.0)([1, 9.0], [1, 2.0]), grid(1.2, [2.2, 3]), interp2d(x, y, z, "cubic")(1.1, 2.2, dx=1)]


@case
def numpy_arguments():
    a = floats(9)
    return [np.percentile(a, 60, interpolation="nearest"), np.sum(x for x in [1, 2]), np.corrcoef(a, a[::-1], bias=0),
            np.reshape(a, newshape=(3, 3)), np.histogram(a, 4, normed=True)[0], np.linalg.matrix_rank(M=np.eye(3))]


@case
def sklearn_assignment():
    from sklearn.utils.linear_assignment_ import linear_assignment

    return [linear_assignment(floats(5, 5)), linear_assignment(floats(3, 6))]


@case
def sklearn_imputer():
    from sklearn.preprocessing import Imputer

    x = floats(5, 4)
    x[x < 0] = np.nan
    return [Imputer().fit_transform(x), Imputer(strategy="median", axis=1).fit_transform(x),
            Imputer("NaN", "most_frequent").fit(x).transform(x)]


@case
def sklearn_jaccard():
    from sklearn.metrics import jaccard_similarity_score

    y, p = picture(6, 3) % 2, picture(3, 6).T % 2
    return [jaccard_similarity_score(y[:, 0], p[:, 0]), jaccard_similarity_score(y, p),
            jaccard_similarity_score(y, p, normalize=False)]


@case
def sklearn_splits():
    from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, train_test_split
    from sklearn.svm import SVC

    x, y = floats(31, 4), picture(31) % 2
    parts = [part for split in KFold(shuffle=True, random_state=3).split(x) for part in split]
    parts += [part for split in StratifiedKFold().split(x, y) for part in split]
    search = GridSearchCV(SVC(random_state=0), {"C": [0.5, 2]}, iid=False).fit(x, y)
    return parts + train_test_split(x, test_size=0.3, random_state=1) + [search.cv_results_["mean_test_score"]]


@case
def sklearn_folds():
    """Classes of unequal numbers, by name; with a seed, a generator, and numpy's own one."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    x, y = floats(43, 3), np.array(["b", "a", "c", "a"])[picture(43) % 4]
    np.random.seed(3)
    splitters = [StratifiedKFold(4), StratifiedKFold(4, shuffle=True, random_state=7), StratifiedKFold(4, True),
                 StratifiedKFold(4, shuffle=True, random_state=np.random.RandomState(1))]
    parts = [part for splitter in splitters for _, part in splitter.split(x, y)]
    return parts + [np.random.rand(), cross_val_score(DecisionTreeClassifier(random_state=0), x, y, cv=4)]


@case
def sklearn_components():
    from sklearn.decomposition import PCA, TruncatedSVD

    x, names = floats(30, 4) * [4, 3, 2, 1], {}
    np.random.seed(3)
    found = [PCA().fit_transform(x), PCA(2, whiten=True).fit(x[:7]).components_, PCA(0.9).fit_transform(x[::-1] ** 3),
             PCA(2).fit_transform(floats(600, 5) * [5, 4, 3, 2, 1])[:5], np.random.rand(),
             TruncatedSVD(2, random_state=2).fit_transform(x), PCA(1, svd_solver="arpack", random_state=1).fit_transform(x)]
    exec("from sklearn.model_selection import *", names)
    return found + ["KFold" in names]


@case
def sklearn_regression():
    from sklearn.linear_model import LogisticRegression

    x, y = floats(40, 3), np.array(["b", "a", "c"])[np.arange(40) % 3]
    found = LogisticRegression(tol=1e-10).fit(x, y)
    return [found.coef_.round(4), found.predict_proba(x[:5]).round(4), found.predict(x), found.classes_, found.intercept_.shape,
            LogisticRegression(tol=1e-10).fit(x, y == "a").predict_proba(x[:3]).round(4)]


@case
def sklearn_cluster():
    from sklearn.cluster import KMeans

    found = KMeans(n_clusters=3, n_jobs=1, random_state=0).fit(floats(60, 2))
    return [np.sort(found.cluster_centers_, axis=0), found.n_init]


@case
def sklearn_encoder():
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.feature_extraction.text import CountVectorizer

    words = CountVectorizer().fit(["a cat", "the dog and cat"])
    return [OneHotEncoder(sparse=False, categories="auto").fit_transform([[0], [2], [1]]), words.get_feature_names()]


@case
def skimage_resize():
    from skimage.transform import rescale, resize

    rgb, grey = picture(8, 10, 3), floats(9, 12)
    grey = np.clip(grey, 0, 1)
    return [resize(rgb, (4, 5)), resize(rgb, (12, 17)), resize(rgb, (4, 5, 3), preserve_range=True),
            resize(grey, (5, 5), order=0), resize(grey, (5, 5), order=3), resize(grey.astype("float32"), (14, 14)),
            resize(grey > 0.5, (5, 5)), resize(rgb, (4, 5), mode="reflect"), resize(grey, (4, 5), anti_aliasing=True, mode="reflect"),
            resize(rgb, (3, 3), anti_aliasing=True),
            rescale(rgb, 0.5), rescale(grey, 1.5), resize(grey, (5, 5), 1, "edge"), resize(grey, (1, 1)),
            resize(floats(4, 4, 4) / 3, (2, 2, 2), mode="constant"), resize(picture(4, 5, 3), [8, 8])]


@case
def skimage_resize_of_bright_pictures():
    """No pixel is 0: what is beyond the border counts in another way."""
    from skimage.transform import resize

    wide = np.random.RandomState(1).randint(0, 60000, (9, 12)).astype("uint16")
    bright = [np.random.RandomState(seed).randint(0, 256, (9, 12)) // 2 + 100 for seed in (3, 4)]
    found = [resize(wide, (11, 13), order=3), resize(wide, (4, 5), order=3, preserve_range=True)]
    for a in (bright[0].astype("uint8"), np.stack([bright[1]] * 3, -1).astype("uint8"), bright[1] / 255.0):
        found += [resize(a, (11, 13), order=3, mode="constant", cval=0.9), resize(a, (4, 5), anti_aliasing=True)]
    return found


@case
def skimage_measures():
    from skimage.measure import compare_mse, compare_nrmse, compare_psnr, compare_ssim

    a, b = picture(12, 14, 3), picture(14, 12, 3).transpose(1, 0, 2)
    f, g = a[..., 0] / 255.0, b[..., 0] / 255.0
    return [compare_ssim(a, b, multichannel=True), compare_ssim(f, g), compare_ssim(f, g, data_range=1, gaussian_weights=True),
            compare_ssim(a, b, multichannel=True, gaussian_weights=True, use_sample_covariance=False),
            compare_psnr(a, b), compare_psnr(f, g), compare_mse(a, b), compare_nrmse(f, g), compare_nrmse(f, g, "min-max"),
            compare_ssim(f.astype("float32"), g.astype("float32"))]


@case
def skimage_io():
    from skimage import data, io

    found = []
    folder = tempfile.mkdtemp()
    for number, image in enumerate([np.clip(floats(6, 7), 0, 1), np.clip(floats(6, 7, 3), 0, 1), picture(6, 7) > 99,
                                    picture(6, 7).astype(int), np.clip(floats(7, 6), 0, 1).astype("float32")]):
        name = os.path.join(folder, "%d.png" % number)
        io.imsave(name, image)
        found += [io.imread(name), data.imread(name)]
    name = os.path.join(folder, "a.png")
    io.imsave(name, picture(6, 7, 3))
    return found + [io.imread(name, as_gray=True), io.imread(name)]


@case
def skimage_other():
    from skimage import color, draw, feature, filters, measure, morphology

    rgb, mask = picture(9, 10, 3), picture(9, 10) > 120
    found = [color.rgb2gray(picture(5, 6, 4)), color.rgb2gray(floats(4, 4)), draw.circle(4, 4, 3)]
    found += [filters.gaussian(rgb, 1, multichannel=True), morphology.dilation(rgb[..., 0], selem=morphology.disk(1))]
    found += [measure.label(mask, neighbors=4).astype(int), measure.label(mask, connectivity=2).astype(int), morphology.binary_erosion(mask, selem=np.ones((2, 2)))]
    return found + [feature.hog(picture(32, 32), visualise=False, block_norm="L2-Hys")]


@case
def PIL_pictures():
    from PIL import Image, ImageDraw, ImageFont

    image = Image.fromarray(picture(9, 12, 3))
    found = [image.resize((5, 4), Image.ANTIALIAS), image.resize((5, 4), Image.LINEAR), image.resize((5, 4), Image.CUBIC),
             image.resize((5, 4)), image.rotate(20), Image.fromarray(floats(4, 5).astype("float32"), "F"),
             Image.fromarray(picture(4, 5), "L"), Image.fromarray(picture(4, 5), mode="P"), Image.fromarray(picture(4, 5, 3), "YCbCr"),
             image.convert("L"), image.transpose(Image.FLIP_LEFT_RIGHT), image.crop((1, 1, 5, 5))]
    Image.fromarray(picture(4, 5).astype("int32"), "L")
    ImageDraw.Draw(image).textsize("abc")
    copy = image.copy()
    copy.thumbnail((6, 6), Image.ANTIALIAS)
    assert ImageFont.load_default().getsize("abc")[0] > 0
    return [np.array(each) for each in found + [copy]] + [np.array(Image.fromarray(picture(4, 5).astype("int32"), "L"))]


@case
def cv2_names():
    import cv2

    image = np.zeros((12, 12), np.uint8)
    image[3:6, 4:9] = 255
    _, contours, hierarchy = cv2.findContours(image, cv2.RETR_TREE, cv2.CHAIN_APPROX_SIMPLE)
    return [contours[0], hierarchy, cv2.resize(picture(8, 10, 3), (5, 4)), cv2.cvtColor(picture(8, 10, 3), cv2.COLOR_BGR2GRAY)]


def table():
    import pandas as pd

    return pd.DataFrame({"a": [1.5, np.nan, 3.0, 4.0], "b": [1, 2, 3, 4], "c": ["x", "y", "x", "z"]}, columns=["a", "b", "c"])


@case
def pandas_methods():
    import pandas as pd

    t = table()
    more = t.append({"a": 9.0, "b": 7, "c": "q"}, ignore_index=True).append(t.iloc[:1])
    column = t["a"].append(t["b"], ignore_index=True)
    found = [more[["a", "b"]].as_matrix(), t.as_matrix(columns=["a", "b"]), list(more.index), column.values, t.get_value(2, "b")]
    t.set_value(2, "b", 30)
    found += [t["b"].values, [k for k, _ in t.iteritems()], t.drop("c", 1).values, t[["a", "b"]].sum(1).values, t.dropna(0).shape]
    found += [t[["a", "b"]].applymap(lambda v: v * 2).values, pd.concat([t, t], 1).shape, t.fillna(method="ffill")["a"].values]
    found += [pd.rolling_mean(t["b"], 2).values if hasattr(pd, "rolling_mean") else t["b"].rolling(2).mean().values, pd.np.pi]
    return found + [t.sort_values("b", 0, False)["b"].values, t.lookup([0, 2], ["b", "b"]), t["b"].mad(), t["b"].ix[1]]


@case
def pandas_ix():
    t, named = table(), table().set_index("c")
    found = [t.ix[1:2, "a"].values, t.ix[[0, 2], ["a", "b"]].values, t.ix[2, 1], float(named.ix[1, "b"]), named.ix["y", 0]]
    found += [named.ix[0:2, 0:1].values, t.ix[t.b > 2, "b"].values, t.ix[:, "b"].values, t.ix[3].values[:2].astype(float)]
    t.ix[t.b > 2, "a"] = 0
    t.ix[0, "b"] = 50
    t.ix[1, "new"] = 5
    named.ix["x", "b"] = 8
    return found + [t[["a", "b", "new"]].values, named["b"].values]


@case
def pandas_columns():
    """Columns that are written to change their frame."""
    t = table()
    t["a"].fillna(7.0, inplace=True)
    t["b"][1:3] = 20
    t["c"][t.b == 20] = "w"
    t.a[0] = 100
    t["b"].loc[3] = 40
    t.c.replace("z", "v", inplace=True)
    other = t["b"].copy()
    other[:] = 0
    return [t["a"].values, t["b"].values, [str(v) for v in t["c"]]]


@case
def pandas_reading():
    import pandas as pd

    text = "a,b,d\n1,x,2018-01-02\n2,y,2018-02-03\n3,z,2018-03-04\n"
    bad = "a,b\n1,2\n3,4,5\n6,7\n"
    read = pd.read_csv(io.StringIO(text), ",")
    found = [read["a"].values, read["b"].dtype == object, list(read.dtypes == object), read.select_dtypes(["object"]).shape]
    found += [pd.read_csv(io.StringIO(bad), error_bad_lines=False, warn_bad_lines=False).values]
    found += [pd.read_csv(io.StringIO("a\n1\n2\n"), squeeze=True).values, pd.read_csv(io.StringIO("1 2\n3 4\n"), header=None, delim_whitespace=True).values]
    found += [list(pd.read_csv(io.StringIO("1,2\n"), header=None, prefix="V").columns)]
    dated = pd.read_csv(io.StringIO(text), parse_dates=["d"], date_parser=lambda v: pd.to_datetime(v, format="%Y-%m-%d"), index_col="d")
    found += [dated.index.month.values.astype(int), dated["a"].resample("M").sum().values]
    return found + [pd.get_dummies(read["b"]).dtypes.iloc[0] == np.uint8, pd.get_dummies(read[["b"]]).values, read.describe().shape]


@case
def pandas_dates():
    import pandas as pd

    days = pd.date_range("2018-01-01", periods=50, freq="H")
    s = pd.Series(np.arange(50), index=days)
    return [days.hour.values.astype(int), s.resample("D").mean().values, s.resample("3H").sum().values, [str(n) for n in days[:2].weekday_name]]


@case
def pandas_text_among_numbers():
    import pandas as pd

    t = pd.DataFrame({"a": [2.0, 1, 4], "b": ["x", "y", "x"], "c": [1, 2, 4]})
    found = [t.mean().values, t.std().values, t.corr().values, t.median().values, t.groupby("b").mean().values, t.quantile(0.4).values]
    named = t.groupby("b").agg({"a": {"m": "mean", "s": "sum"}})
    found += [t.groupby("b")["a"].agg({"n": "count"}).values, named[("a", "m")].values, named[("a", "s")].values]
    words = pd.Series(["a.b", "a1c", "Ab"])
    found += [list(words.str.replace(".", "-")), list(words.str.replace("[0-9]", "-")), list(words.str.replace("a.", "-", case=False))]
    found += [t.swapaxes(0, 1).shape, t.reindex_axis(["c", "a"], axis=1).values, t[["c"]].get_dtype_counts().values]
    found += [pd.DataFrame.from_items([("b", [1]), ("a", [2])]).values, pd.factorize(["b", "a", None, "b"], na_sentinel=-1)[0]]
    pd.set_option("max_rows", 10)
    return found + [pd.DataFrame({"a": ["1", "x"]}).convert_objects(convert_numeric=True)["a"].values, pd.Series([1, np.nan]).valid().values]


@case
def pandas_dates_of_columns():
    from datetime import datetime

    import pandas as pd

    hours = io.StringIO("No,year,month,day,hour,v\n1,2010,1,2,3,7\n2,2011,4,5,6,8\n")
    power = io.StringIO("Date;Time;v\n16/12/2006;17:24:00;1.5\n17/12/2006;17:25:00;?\n")
    days = pd.date_range("2018-01-01", periods=9)
    read = [
        pd.read_csv(hours, parse_dates=[["year", "month", "day", "hour"]], index_col=0, date_parser=lambda x: datetime.strptime(x, "%Y %m %d %H")),
        pd.read_csv(power, sep=";", infer_datetime_format=True, parse_dates={"when": [0, 1]}, index_col=["when"], keep_date_col=False),
    ]
    found = [part for each in read for part in ([str(day) for day in each.index], str(each.index.name), list(each.columns), each.iloc[:, -1].values)]
    found += [np.array(days.weekofyear).astype(int), pd.Series(days).dt.weekofyear.values.astype(int), list(pd.Series(days).dt.weekday_name)]
    name = os.path.join(tempfile.mkdtemp(), "a.csv")
    pd.DataFrame({"t": days, "v": range(9)}).to_csv(name, index=False)
    return found + [[str(day) for day in pd.DataFrame.from_csv(name).index], pd.Timestamp("2018-01-01").weekday_name, days.is_monotonic]


@case
def networkx_matrices():
    import networkx as nx

    g = nx.Graph([(0, 1), (1, 2), (3, 4)])
    matrix = nx.to_numpy_matrix(g)
    found = [matrix * matrix, nx.to_scipy_sparse_matrix(g).dot(np.eye(5)), (nx.to_scipy_sparse_matrix(g) * np.ones((5, 1)))]
    return found + [nx.to_numpy_matrix(nx.from_numpy_matrix(matrix)), sorted(len(c) for c in nx.connected_component_subgraphs(g)), sorted(g.node)]


@case
def networkx_methods():
    import networkx as nx

    g = nx.Graph()
    g.add_path([0, 1, 2, 3])
    g.add_cycle([0, 1, 2])
    name = os.path.join(tempfile.mkdtemp(), "g.pickle")
    nx.write_gpickle(g, name)
    found = [len(nx.read_gpickle(name)), sorted(nx.find_cores(g).values()), sorted(nx.edge_betweenness(g).values())]
    return found + [nx.graph_clique_number(g), nx.graph_number_of_cliques(g), len(list(g.selfloop_edges())), len(nx.OrderedGraph())]


@case
def matplotlib_arguments():
    import matplotlib

    matplotlib.use("Agg", warn=False)
    import matplotlib.pyplot as plt
    from matplotlib import mlab

    plt.style.use("seaborn-paper")
    plt.subplot(1, 1, 1, facecolor="red")
    heights = plt.hist(floats(30), 5, normed=True)[0]
    plt.grid(b=True)
    plt.xticks(range(3), ["a", "b", "c"])
    plt.annotate(s="x", xy=(0, 0))
    lines = plt.plot_date([17532.5, 17533.5], [1, 2])[0].get_xydata()
    plt.gcf().canvas.set_window_title("x")
    plt.savefig(io.BytesIO(), papertype="a4", frameon=True)
    drawn = plt.contour([[1, 2], [3, 4]])
    assert drawn.collections[0].get_visible() and plt.gcf().gca(polar=True).name == "polar"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [heights, lines, mlab.normpdf(floats(4), 0.5, 2.0), matplotlib.cm.get_cmap("jet")(0.3)]


@case
def python_names():
    import fractions
    import inspect
    import itertools
    import time
    from collections import Iterable, Mapping
    from distutils.version import LooseVersion

    import imp

    def function(a, b=2, *c, **d):
        pass

    time.clock()
    module = os.path.join(tempfile.mkdtemp(), "settings.py")
    with open(module, "w") as file:
        file.write("x = 3\n")
    loaded = imp.load_source("settings_of_then", module)
    spec = inspect.getargspec(function)
    found = [fractions.gcd(12, 18), spec.args, spec.keywords, loaded.x, LooseVersion("1.10") > LooseVersion("1.9")]
    return found + [isinstance({}, Mapping), isinstance([], Iterable), len(list(itertools.chain([1])))]


def main(path, only=""):
    """Run each case whose package is installed; an error is kept as its text."""
    kept = {}
    for name, function in CASES.items():
        package = name.partition("_")[0]
        if only not in ("", package):
            continue
        try:
            __import__(package if package != "python" else "sys")
        except ImportError:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                values = function()
            except Exception as error:
                values = ["%s: %s" % (type(error).__name__, error)]
        for number, value in enumerate(values):
            value = np.asarray(value)
            kept["%s/%02d" % (name, number)] = value.astype(str) if value.dtype == object else value
    np.savez_compressed(path, **kept)


if __name__ == "__main__":
    main(*sys.argv[1:])
